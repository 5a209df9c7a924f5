// What of the corpus is asked: papers that are ticked, an author, years, sections, sources, pages. Syntax of `where`: docs/searching.md.

import { button, byId, counted, el } from "./dom.js";

const SECTIONS = [
  "abstract", "introduction", "background", "methods", "participants", "data", "results", "discussion", "limitations",
  "conclusion", "appendix", "statements", "funding", "ethics", "title-page", "other",
];
const RANGES = ["year", "page"];
const endsOf = (field) => [byId(`filter-${field}-first`), byId(`filter-${field}-last`)];
const CHOSEN_BY_NAME = ["section", "source"];

/** Papers are ticked in the list of papers; everything else is chosen here. onPapersCleared(): untick them there. */
export class Filters {
  constructor({ onPapersCleared }) {
    this.papers = new Set();
    this.onPapersCleared = onPapersCleared;
    byId("filter-sections").replaceChildren(...SECTIONS.map((name) => this.chip("section", name)));
    for (const input of [byId("filter-author"), ...RANGES.flatMap(endsOf)]) {
      input.addEventListener("input", () => this.show());
    }
  }

  /** Sources that occur among the papers; there is nothing to choose from one. */
  setSources(sources) {
    const chosen = new Set(this.chosen("source"));
    byId("filter-sources").replaceChildren(...sources.map((name) => this.chip("source", name, chosen.has(name))));
    byId("filter-sources-field").hidden = sources.length < 2;
    this.show();
  }

  tick(paperId, isTicked) {
    if (isTicked) this.papers.add(paperId);
    else this.papers.delete(paperId);
    this.show();
  }

  /** Papers that are gone can be asked no more. */
  keepOnly(paperIds) {
    this.papers = new Set([...this.papers].filter((id) => paperIds.has(id)));
    this.show();
  }

  /** As the fields of a question: {paper_ids, where}, each only where something is chosen. */
  scope() {
    const author = this.author();
    const where = [
      author && `author:"${author.replaceAll('"', '""')}"`,
      ...CHOSEN_BY_NAME.map((field) => this.chosen(field).length && `${field}:${this.chosen(field).join(",")}`),
      ...RANGES.map((field) => this.range(field) && `${field}:${this.range(field)}`),
    ].filter(Boolean).join(" ");
    return { ...(this.papers.size ? { paper_ids: [...this.papers] } : {}), ...(where ? { where } : {}) };
  }

  show() {
    const author = this.author();
    const parts = [
      [this.papers.size ? `only ${counted(this.papers.size, "paper")}` : "", () => this.clearPapers()],
      ...CHOSEN_BY_NAME.map((field) => [this.chosen(field).join(", "), () => this.clear(field)]),
      [author && `papers by ${author}`, () => this.clearInputs([byId("filter-author")])],
      ...RANGES.map((field) => [rangeInWords(field, this.range(field)), () => this.clearInputs(endsOf(field))]),
    ].filter(([words]) => words);
    const scope = byId("scope");
    scope.hidden = !parts.length;
    scope.replaceChildren("Asking ", ...parts.map(([words, drop]) => scopeChip(words, drop)));
  }

  chip(field, name, isChecked = false) {
    const onchange = () => this.show();
    const input = el("input", { type: "checkbox", value: name, "data-filter": field, checked: isChecked, onchange });
    return el("label", { class: "chip" }, input, name);
  }

  chosen(field) {
    return [...document.querySelectorAll(`input[data-filter=${field}]:checked`)].map((input) => input.value);
  }

  author() {
    return byId("filter-author").value.trim();
  }

  range(field) {
    const [first, last] = endsOf(field).map((input) => Number.parseInt(input.value, 10) || null);
    if (!first && !last) return "";
    return last ? `${Math.min(first ?? 1, last)}-${Math.max(first ?? 1, last)}` : `${first}-`;
  }

  clear(field) {
    for (const input of document.querySelectorAll(`input[data-filter=${field}]`)) input.checked = false;
    this.show();
  }

  clearInputs(inputs) {
    for (const input of inputs) input.value = "";
    this.show();
  }

  clearPapers() {
    this.papers.clear();
    this.onPapersCleared();
    this.show();
  }
}

/** "page", "3-7" -> "pages 3 to 7"; "3-" -> "pages from 3". */
function rangeInWords(field, range) {
  if (!range) return "";
  const [first, last] = range.split("-");
  if (first === last) return `${field} ${first}`;
  return last ? `${field}s ${first} to ${last}` : `${field}s from ${first}`;
}

function scopeChip(words, drop) {
  const close = button("×", drop, { "aria-label": `Stop asking ${words}` });
  return el("span", { class: "scope-chip" }, words, close);
}
