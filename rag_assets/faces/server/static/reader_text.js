// What the reader shows as text: a sentence in the text around it, the abstract of a paper, and its summary.

import { button, el, parted } from "./dom.js";
import { pageWords } from "./words.js";

/** isQuoted: a sentence of it is marked; isOpen: the text is shown at once, because there is no page to look at. */
export function inText(chunk, { isQuoted, isOpen }) {
  const { start, end } = chunk.marked ?? { start: 0, end: 0 };
  const [before, quote, after] = parted(chunk.text, start, end);
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

const NAMES = { asked: "What was asked", done: "What was done", found: "What was found", limits: "What limits it" };
const NOT_TOLD = "The model found nothing in the paper that says it.";

export function abstractOf(text) {
  const paragraphs = text.split("\n\n").map((one) => el("p", {}, one));
  return el("details", { class: "more summary", open: true }, el("summary", {}, "Abstract"), paragraphs);
}

/** The points that the API tells of a paper, or null where nothing is told. open({citation, claim}): shows a quote. */
export function summaryOf(points, open) {
  if (!points.some((told) => told.claims.length)) return null;
  const rows = points.map((told) => el("div", {}, el("dt", {}, NAMES[told.point]), el("dd", {}, said(told, open))));
  return el("details", { class: "more summary", open: true }, el("summary", {}, "Summary"), el("dl", {}, rows));
}

function said({ claims }, open) {
  if (!claims.length) return el("span", { class: "hint" }, NOT_TOLD);
  return claims.map((claim) => el("p", {}, claim.text, claim.citations.map((cited) => place(claim, cited, open))));
}

function place(claim, citation, open) {
  const label = `${pageWords(citation)}. Show the sentence in the paper.`;
  const show = () => open({ citation, claim: claim.text });
  return [" ", button(pageWords(citation), show, { class: "link", "aria-label": label })];
}
