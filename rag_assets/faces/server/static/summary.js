// The abstract of a paper, and its summary where a model wrote one: what it asked, did and found, and what limits it.

import { button, el } from "./dom.js";
import { pageWords } from "./words.js";

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
