// The reader: the page a sentence stands on, with the sentence marked, and the text around it.

import { asProblem, getJson } from "./api.js";
import { byId, el } from "./dom.js";
import { bandLabel, verificationFacts } from "./evidence.js";
import { problemBlock } from "./notices.js";
import { pageFigure } from "./page_image.js";
import { isPhone, showPane } from "./panes.js";
import { inText } from "./reader_text.js";
import { pageWords, titleOf } from "./words.js";

const NO_PAGE = "Page unknown. Nothing in the file proves on which page this stands, so none is shown.";

/** paperOf: paper id -> paper of the list, or undefined. */
export class Reader {
  constructor({ paperOf }) {
    this.paperOf = paperOf;
    this.isEnlarged = false;
    this.root = byId("reader");
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    this.reset(null);
    this.root.replaceChildren(emptyReader());
  }

  /** A source of an answer: {citation, title, support, band}, or {context, title} for something that was only read. */
  async showSource(source, mark) {
    const signal = this.reset(mark);
    const cited = source.citation ?? source.context;
    this.paper = this.paperOf(cited.paper_id) ?? { paper_id: cited.paper_id, has_pages: true };
    const range = source.citation ? `?start=${cited.start}&end=${cited.end}` : "";
    const path = `/api/chunks/${encodeURIComponent(cited.chunk_id)}`;
    this.frame(source.title, cited, sourceFacts(source));
    try {
      const [chunk, place] = await Promise.all([getJson(`${path}${range}`, { signal }), getJson(`${path}/place${range}`, { signal })]);
      this.section.textContent = [chunk.section_path].flat().filter(Boolean).join(" › ");
      this.marked = place.pages;
      await this.showPlace(chunk, source.citation !== null, signal);
    } catch (error) {
      if (!signal.aborted) this.pages.replaceChildren(problemBlock(asProblem(error), () => this.showSource(source, mark)));
    }
  }

  /** A paper from its first page, with its sections to jump to. */
  async showPaper(paper) {
    const signal = this.reset(null);
    this.paper = paper;
    this.frame(titleOf(paper), null, []);
    try {
      const { sections = [], reason } = await getJson(`/api/papers/${encodeURIComponent(paper.paper_id)}`, { signal });
      if (reason) this.pages.append(el("p", { class: "notice" }, reason));
      if (paper.has_pages) await this.turnTo(1);
      else this.pages.append(el("p", { class: "notice" }, "This paper has no page images. Sentences of answers are shown in its text."));
      this.text.replaceChildren(...(sections.length ? [this.contents(sections)] : []));
    } catch (error) {
      if (!signal.aborted) this.pages.replaceChildren(problemBlock(asProblem(error), () => this.showPaper(paper)));
    }
  }

  /** Forget what is shown; mark: where the focus goes back to. The signal ends requests when something else is shown. */
  reset(mark) {
    this.loading?.abort();
    this.loading = new AbortController();
    this.figures?.forEach((figure) => figure.release());
    this.figures = [];
    this.marked = [];
    this.page = null;
    this.returnTo?.removeAttribute("aria-current");
    this.returnTo = mark;
    mark?.setAttribute("aria-current", "true");
    return this.loading.signal;
  }

  frame(title, cited, facts) {
    const back = el("button", { type: "button", class: "quiet back", onclick: () => this.back() }, "‹ Answer");
    const heading = el("h2", { id: "reader-title", tabindex: "-1" }, title);
    this.section = el("p", { class: "hint section" });
    this.where = el("p", { class: "where" }, cited ? pageWords(cited) : "");
    this.steps = el("div", { class: "steps" });
    this.pages = el("div", { class: this.isEnlarged ? "pages enlarged" : "pages" });
    this.text = el("div", { class: "in-text" });
    const head = el("div", { class: "reader-head" }, this.returnTo && back, heading, this.section, el("div", { class: "row" }, this.where, this.steps));
    this.root.replaceChildren(head, el("div", { class: "reader-body" }, el("div", { class: "facts" }, facts), this.pages, this.text));
    showPane("reader");
    heading.focus({ preventScroll: true });
  }

  async showPlace(chunk, isQuoted, signal) {
    const hasImage = this.paper.has_pages && this.marked.length > 0;
    if (!chunk.page_start && !this.marked.length) this.where.textContent = "page unknown";
    if (!chunk.page_start && !this.marked.length) this.pages.append(el("p", { class: "notice" }, NO_PAGE));
    else if (!hasImage) this.pages.append(el("p", { class: "notice" }, "There is no image of this page: the paper has no PDF. This is its text."));
    this.text.replaceChildren(inText(chunk, { isQuoted, isOpen: !hasImage || isPhone() }));
    if (hasImage) await this.showMarked(signal);
    else this.text.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  }

  async showMarked(signal) {
    const [first] = this.marked;
    if (this.marked.some((place) => !place.exact)) this.pages.append(el("p", { class: "notice" }, "The sentence could not be told apart on the page; the paragraph that holds it is marked."));
    await this.showPages(this.marked);
    this.page = first.page;
    this.showSteps();
    if (!signal.aborted) this.figures[0].scrollToMark();
  }

  /** Another page of the paper, without marks unless the sentence stands there. */
  async turnTo(page) {
    this.page = page;
    this.pages.replaceChildren();
    const marked = this.marked.filter((place) => place.page === page);
    this.where.textContent = pageWords({ page_start: page, page_label: marked[0]?.page_label ?? null });
    this.showSteps();
    await this.showPages(marked.length ? marked : [{ page, boxes: [] }]);
  }

  async showPages(places) {
    this.figures.forEach((figure) => figure.release());
    this.figures = places.map((place) => pageFigure(this.paper.paper_id, place, this.loading.signal));
    this.pages.append(...this.figures.map((figure) => figure.element));
    await Promise.all(this.figures.map((figure) => figure.loaded));
  }

  showSteps() {
    const last = this.paper.n_pages ?? null;
    const step = (label, words, page) =>
      el("button", { type: "button", class: "quiet", "aria-label": words, disabled: page < 1 || (last !== null && page > last), onclick: () => this.turnTo(page) }, label);
    const isAway = this.marked.length > 0 && !this.marked.some((place) => place.page === this.page);
    const home = el("button", { type: "button", class: "quiet", onclick: () => this.turnTo(this.marked[0].page) }, "To the quote");
    const enlarge = el("button", { type: "button", class: "quiet", "aria-pressed": String(this.isEnlarged), onclick: () => this.enlarge() }, "Enlarge");
    const buttons = [isAway && home, enlarge, step("‹", "Previous page", this.page - 1), last && el("span", { class: "hint" }, `${this.page} / ${last}`), step("›", "Next page", this.page + 1)];
    this.steps.replaceChildren(...buttons.filter(Boolean));
  }

  enlarge() {
    this.isEnlarged = !this.isEnlarged;
    this.showSteps();
    this.pages.classList.toggle("enlarged", this.isEnlarged);
    this.figures[0]?.scrollToMark();
  }

  contents(sections) {
    const item = (section) => {
      const label = section.title || "Untitled";
      const canTurn = this.paper.has_pages && section.page_start;
      const name = canTurn ? el("button", { type: "button", class: "link", onclick: () => this.turnTo(section.page_start) }, label) : label;
      return el("li", {}, name, el("span", { class: "hint" }, ` ${pageWords(section)}`));
    };
    return el("details", { class: "more contents", open: true }, el("summary", {}, "Sections"), el("ol", {}, sections.map(item)));
  }

  pressed(event) {
    if (event.key === "Escape") this.back();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const page = this.page + step;
    if (!step || this.page === null || page < 1 || page > (this.paper.n_pages ?? Infinity)) return;
    event.preventDefault();
    this.turnTo(page);
  }

  back() {
    showPane("conversation");
    this.returnTo?.focus();
  }
}

function sourceFacts({ citation, claim, support, band }) {
  if (!citation) return [el("p", { class: "fact" }, "This was read for the answer; no sentence of it is quoted here")];
  const quote = citation.quote === claim ? null : el("blockquote", { class: "quote" }, citation.quote); // else said by the claim
  return [bandLabel(band), ...verificationFacts({ citation, support }), quote].filter(Boolean);
}

function emptyReader() {
  const hint = "Click the number behind a sentence of an answer: its page is shown here, with the sentence marked.";
  return el("div", { class: "reader-empty" }, el("h2", { id: "reader-title" }, "Reader"), el("p", { class: "hint" }, hint));
}
