// What of the corpus is asked: papers that are ticked, sections, sources, pages. Syntax of `where`: docs/searching.md.

import { byId, counted, el } from "./dom.js";

const SECTIONS = "abstract introduction background methods results discussion conclusion appendix title-page other".split(" ");

/** Papers are ticked in the list of papers; everything else is chosen here. onPapersCleared(): untick them there. */
export class Filters {
  constructor({ onPapersCleared }) {
    this.papers = new Set();
    this.onPapersCleared = onPapersCleared;
    byId("filter-sections").replaceChildren(...SECTIONS.map((name) => this.chip("section", name)));
    for (const id of ["filter-page-first", "filter-page-last"]) byId(id).addEventListener("input", () => this.show());
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
    const pages = this.pages();
    const where = [
      ...["section", "source"].filter((field) => this.chosen(field).length).map((field) => `${field}:${this.chosen(field).join(",")}`),
      ...(pages ? [`page:${pages}`] : []),
    ].join(" ");
    return { ...(this.papers.size ? { paper_ids: [...this.papers] } : {}), ...(where ? { where } : {}) };
  }

  show() {
    const pages = this.pages();
    const parts = [
      this.papers.size && [`only ${counted(this.papers.size, "paper")}`, () => this.clearPapers()],
      ...["section", "source"].map((field) => this.chosen(field).length && [this.chosen(field).join(", "), () => this.clear(field)]),
      pages && [`pages ${pages}`, () => this.clearPages()],
    ].filter(Boolean);
    const scope = byId("scope");
    scope.hidden = !parts.length;
    scope.replaceChildren(...(parts.length ? ["Asking ", ...parts.map(([words, drop]) => scopeChip(words, drop))] : []));
  }

  chip(field, name, isChecked = false) {
    const input = el("input", { type: "checkbox", value: name, "data-filter": field, checked: isChecked, onchange: () => this.show() });
    return el("label", { class: "chip" }, input, name);
  }

  chosen(field) {
    return [...document.querySelectorAll(`input[data-filter=${field}]:checked`)].map((input) => input.value);
  }

  pages() {
    const [first, last] = ["filter-page-first", "filter-page-last"].map((id) => Number.parseInt(byId(id).value, 10) || null);
    if (!first && !last) return "";
    return last ? `${Math.min(first ?? 1, last)}-${Math.max(first ?? 1, last)}` : `${first}-`;
  }

  clear(field) {
    for (const input of document.querySelectorAll(`input[data-filter=${field}]`)) input.checked = false;
    this.show();
  }

  clearPages() {
    byId("filter-page-first").value = byId("filter-page-last").value = "";
    this.show();
  }

  clearPapers() {
    this.papers.clear();
    this.onPapersCleared();
    this.show();
  }
}

function scopeChip(words, drop) {
  const close = el("button", { type: "button", "aria-label": `Stop asking ${words}`, onclick: drop }, "×");
  return el("span", { class: "scope-chip" }, words, close);
}
