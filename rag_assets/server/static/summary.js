// What a paper asked, did and found, and what limits it: its own sentences, each with the page it stands on.

import { button, el } from "./dom.js";
import { pageWords } from "./words.js";

const NAMES = { asked: "What was asked", done: "What was done", found: "What was found", limits: "What limits it" };
const NOT_TOLD = "No sentence of the paper was recognised that says it.";

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
