// What the reader shows as text: a sentence in the text around it, and the abstract of a paper.

import { el, parted } from "./dom.js";

/** isQuoted: a sentence of it is marked; isOpen: the text is shown at once, because there is no page to look at. */
export function inText(chunk, { isQuoted, isOpen }) {
  const [before, quote, after] = isQuoted ? parted(chunk.text, chunk.start, chunk.end) : [chunk.text];
  const text = el(
    "div",
    { class: "text" },
    chunk.before && el("p", { class: "around" }, chunk.before),
    el("p", {}, before, quote && el("mark", {}, quote), after),
    chunk.after && el("p", { class: "around" }, chunk.after),
  );
  const summary = el("summary", {}, isQuoted ? "The sentence in its text" : "The text");
  return el("details", { class: "more", open: isOpen }, summary, text);
}

/** A text without anything marked. */
export const plainText = (text) => el("div", { class: "text" }, el("p", {}, text));

export function abstractOf(text) {
  const paragraphs = text.split("\n\n").map((one) => el("p", {}, one));
  return el("details", { class: "more summary", open: true }, el("summary", {}, "Abstract"), paragraphs);
}
