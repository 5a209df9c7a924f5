// One answer as it arrives: claims with numbered marks, what was left out, what was read.

import { remarks, SINGLE_SOURCE } from "./copy.js";
import { button, counted, el } from "./dom.js";
import { attachCard, quoteFacts } from "./evidence.js";
import { announce } from "./notices.js";
import { pinButton } from "./pins.js";
import { smallTable } from "./small_table.js";
import { claimNotes, costWords, droppedWords, markWords, pageWords, placeWords, reportedWorks } from "./words.js";

/** The part of a turn below its question. open(source): shows a source in the reader; titleOf: paper id -> title. */
export class AnswerView {
  constructor({ open, titleOf }) {
    this.open = open;
    this.titleOf = titleOf;
    this.contexts = new Map(); // chunk id -> context that was read
    this.shown = []; // claims on the page, in order
    this.nMarks = 0;
    this.isReplaced = false; // the next claim takes the place of all that are shown
    this.progress = el("p", { class: "progress" }, "Searching the papers");
    this.stage = ""; // what a thorough answer is at
    this.parts = el("ol", { class: "parts" });
    this.lead = el("p", { class: "lead" });
    this.claims = el("ol", { class: "claims" });
    this.below = el("div", { class: "below" });
    this.element = el("div", { class: "answer", "aria-busy": "true" }, this.progress, this.parts, this.lead, this.claims, this.below);
  }

  /** The parts that a thorough answer looks for. */
  plan({ parts }) {
    if (parts.length > 1) this.parts.replaceChildren(...parts.map((part) => el("li", {}, part)));
  }

  /** A part is searched: the first time, or again in other words. */
  begin({ number, n_parts: of, other_words: words }) {
    const part = of > 1 ? `Part ${number} of ${of}` : "";
    this.stage = [part, words && `searching for “${words}”`].filter(Boolean).join(", ");
    this.progress.textContent = this.stage || this.progress.textContent;
    for (const item of this.parts.children) item.removeAttribute("aria-current");
    this.parts.children[number - 1]?.setAttribute("aria-current", "step");
    if (this.stage) announce(this.stage);
  }

  /** Passages that are read; an answer in several steps reads some for each. */
  read({ contexts }) {
    for (const context of contexts) this.contexts.set(context.chunk_id, context);
    const papers = new Set([...this.contexts.values()].map((context) => context.paper_id));
    const read = this.contexts.size
      ? `Reading ${counted(this.contexts.size, "passage")} of ${counted(papers.size, "paper")}`
      : "Nothing in the papers comes near the question";
    this.progress.textContent = [this.stage, read].filter(Boolean).join(" · ");
  }

  /** The model is asked once more: to mend statements that did not hold, or for further papers. */
  readMore({ n_objections: nObjections } = {}) {
    this.isReplaced = true;
    this.progress.textContent = nObjections ? "Checking again" : "Few papers carry it so far: reading more";
  }

  add(claim) {
    if (this.isReplaced) this.clear();
    this.isReplaced = false;
    this.append(claim);
    announce(`Claim ${this.shown.length}: ${claim.text}`);
  }

  /** The finished answer: its claims are those that count, whatever was shown on the way. */
  finish({ answer, dropped = [], seconds = null }) {
    this.progress.remove();
    this.parts.remove();
    this.element.removeAttribute("aria-busy");
    if (answer.refused || !answer.claims.length) this.refuse(answer);
    else this.settle(answer.claims);
    this.lead.replaceChildren(...(answer.lead ?? []).flatMap((sentence) => this.leading(sentence)));
    const said = answer.refused ? (answer.unanswered ?? []) : remarks(answer);
    this.below.replaceChildren(
      ...said.map((remark) => el("p", { class: remark === SINGLE_SOURCE ? "flag single" : "flag" }, remark)),
      ...[referencesOf(answer), nearestOf(answer, this), leftOut(dropped), this.whatWasRead(), costOf(answer, seconds)].filter(Boolean),
    );
    announce(!answer.claims.length ? answer.answer : `The answer is complete: ${counted(answer.claims.length, "claim")}.`);
  }

  /** The answer ended early; what is shown was verified all the same. */
  end(element) {
    this.progress.remove();
    this.parts.remove();
    this.element.removeAttribute("aria-busy");
    this.below.append(element);
  }

  /** The mark of a claim's first source; null when there is no such claim. */
  markOf(claimNumber) {
    return this.claims.children[claimNumber - 1]?.querySelector(".mark") ?? null;
  }

  settle(claims) {
    const said = ({ text, citations }) => [text, ...citations.map((one) => one.cited_as)].join("\n");
    const isShown = claims.length === this.shown.length && claims.every((one, n) => said(one) === said(this.shown[n]));
    if (isShown) return; // marks keep the focus, cards stay open
    this.clear();
    claims.forEach((claim) => this.append(claim));
  }

  /** A sentence of the paragraph above the claims; its numbers lead to them. */
  leading({ text, claims }) {
    const show = (number) => {
      const claim = this.claims.children[number - 1];
      claim?.scrollIntoView({ block: "nearest" });
      claim?.querySelector(".mark")?.focus();
    };
    const label = (number) => ({ class: "link", "aria-label": `Claim ${number}` });
    const numbers = claims.flatMap((number) => [" ", button(`(${number})`, () => show(number), label(number))]);
    return [el("span", {}, text, el("span", { class: "hint" }, numbers)), " "];
  }

  clear() {
    this.claims.replaceChildren();
    this.shown = [];
    this.nMarks = 0;
  }

  append(claim) {
    this.shown.push(claim);
    const number = this.shown.length;
    const sources = claim.citations.map((citation) => this.source(citation, claim, number));
    const marks = sources.map((source) => this.mark(source));
    const said = smallTable(claim.text, claim.citations[0]?.quote ?? "") ?? claim.text;
    const text = el("div", { class: "claim-text" }, said, " ", el("span", { class: "marks" }, marks));
    const notes = claimNotes(claim).map((note) => el("p", { class: "hint note" }, note));
    const works = reportedWorks(claim).map((entry) => el("li", {}, entry));
    const fold = works.length ? el("details", { class: "hint note" }, el("summary", {}, "Whose finding it is"), el("ul", {}, works)) : null;
    const cited = sources.map(({ citation, title, number }) => {
      const place = placeWords(citation);
      const isMarked = markWords(citation, number) === place;
      const isNamed = citation.cited_as && citation.cited_as !== citation.paper_id;
      const words = isMarked ? title : isNamed ? place : `${title}, ${place}`;
      return el("span", { title }, words);
    });
    this.claims.append(el("li", { class: "claim" }, text, notes, fold, el("p", { class: "sources" }, cited, pinButton(claim))));
  }

  source(citation, claim, claimNumber) {
    this.nMarks += 1;
    const { support, text } = claim;
    const title = citation.title || this.titleOf(citation.paper_id);
    const context = this.contexts.get(citation.chunk_id);
    return { citation, context, title, support, claim: text, claimNumber, number: this.nMarks };
  }

  mark(source) {
    const place = `${source.title}, ${placeWords(source.citation)}`;
    const label = `Source ${source.number}: ${place}. Show it in the paper.`;
    const mark = button(markWords(source.citation, source.number), () => this.open(source, mark), { class: "mark", "aria-label": label });
    attachCard(mark, () => quoteFacts(source));
    return mark;
  }

  refuse(answer) {
    this.clear();
    const missing = answer.missing_names?.length
      ? el("p", { class: "hint" }, `Nowhere in what was found: ${answer.missing_names.join(", ")}`)
      : null;
    const heading = answer.withheld ? "The answer is withheld" : "No answer was found";
    const words = el("p", { class: "refusal-words" }, answer.answer);
    this.claims.replaceWith(el("div", { class: "refusal" }, el("h4", {}, heading), words, missing));
  }

  whatWasRead() {
    if (!this.contexts.size) return null;
    const items = [...this.contexts.values()].map((context) => {
      const title = context.title || this.titleOf(context.paper_id);
      const match = context.band && `${context.band} search match`;
      const place = [context.section_path, pageWords(context), match].filter(Boolean).join(" · ");
      const open = (event) => this.open({ context, title, citation: null }, event.currentTarget);
      return el("li", {}, button(title, open, { class: "link" }), el("span", { class: "hint" }, ` ${place}`));
    });
    return el("details", { class: "more" }, el("summary", {}, `What was read (${items.length})`), el("ol", {}, items));
  }
}

function referencesOf({ references }) {
  if (!references?.length) return null;
  const items = references.map((entry) => el("li", {}, entry));
  return el("details", { class: "more", open: true }, el("summary", {}, "References"), el("ul", {}, items));
}

function costOf({ usage }, seconds) {
  const words = costWords(usage, seconds);
  return words && el("p", { class: "hint cost" }, `Cost: ${words}`);
}

function leftOut(dropped) {
  const n = dropped.reduce((sum, one) => sum + (one.n ?? 1), 0);
  if (!n) return null;
  const items = dropped.map((one) => {
    const what = one.claim ? `“${one.claim}”: ` : el("b", {}, `${one.n ?? 1} × `);
    return el("li", {}, what, droppedWords(one));
  });
  const summary = el("summary", {}, `What was left out (${n})`);
  const why = "These statements were drafted and did not hold when they were checked against the papers:";
  return el("details", { class: "more" }, summary, el("p", {}, why), el("ul", {}, items));
}

/** They below an answer, and open below a refusal, as an element; null where there are none. open(source, mark): shows
 * one in the reader. */
export function nearestOf({ nearest, refused, withheld }, { open, titleOf }) {
  if (!nearest?.length) return null;
  const heading = refused || withheld ? "Nearest sentences, which may not answer it" : "Near the question, and no part of the answer";
  const items = nearest.map(({ text, citations }) => {
    const sources = citations.map((citation) => {
      const title = citation.title || titleOf(citation.paper_id);
      const show = (event) => open({ citation, title, claim: text }, event.currentTarget);
      return el("p", {}, button(title, show, { class: "link" }), el("span", { class: "hint" }, ` ${pageWords(citation)}`));
    });
    return el("li", {}, el("div", { class: "near-text" }, smallTable(text, citations[0]?.quote ?? "") ?? text), sources);
  });
  return el(
    "details",
    { class: "more nearest", open: refused },
    el("summary", {}, `${heading} (${nearest.length})`),
    el("ol", {}, items),
  );
}
