// The reader: the page a sentence stands on, with the sentence marked, and the text around it.

import { asProblem, getJson } from "./api.js";
import { button, byId, el } from "./dom.js";
import { verificationFacts } from "./evidence.js";
import { problemBlock } from "./notices.js";
import { Pages } from "./pages.js";
import { abstractOf, inText, plainText } from "./reader_text.js";
import { smallTable } from "./small_table.js";
import { isPhone, showPane } from "./view.js";
import { pageWords, searchWords, titleOf } from "./words.js";

const HINT = "Click the number behind a sentence of an answer: its page is shown here, with the sentence marked.";
const BLOCK_MARKED = "The quoted words could not be told apart on the page; the paragraph or table that holds them is marked.";
const NOT_MARKED = "The sentence stands on this page; where on it is not known.";
const ONLY_READ = "This was read for the answer; no sentence of it is quoted here";
const NO_IMAGE = "There is no image of this page: the paper has no PDF. This is its text.";
const NO_PAGES = "This paper has no page images. Choose a section to read its text.";
const NO_PAGE = "Page unknown. Nothing in the file proves on which page this stands, so none is shown.";

/** paperOf: paper id -> paper of the list, or undefined. */
export class Reader {
  constructor({ paperOf }) {
    this.paperOf = paperOf;
    this.root = byId("reader");
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    const heading = el("h2", { id: "reader-title" }, "Reader");
    this.root.replaceChildren(el("div", { class: "reader-empty" }, heading, el("p", { class: "hint" }, HINT)));
  }

  /** A source of an answer: {citation, context, title, support}, or {context, title} for something that was only read. */
  async showSource(source, mark) {
    const cited = source.citation ?? source.context;
    const paper = this.paperOf(cited.paper_id) ?? { paper_id: cited.paper_id, has_pages: true };
    const signal = this.begin({ paper, title: source.title, mark });
    this.where.textContent = pageWords(cited);
    this.facts.append(...sourceFacts(source));
    const range = source.citation ? `?start=${cited.start}&end=${cited.end}` : "";
    const path = `/api/chunks/${encodeURIComponent(cited.chunk_id)}`;
    await this.tried(signal, () => this.showSource(source, mark), async () => {
      const found = [getJson(`${path}${range}`, { signal }), getJson(`${path}/place${range}`, { signal })];
      const [chunk, { pages: places }] = await Promise.all(found);
      this.section.textContent = chunk.section_path;
      await this.showPlace({ chunk, places, isQuoted: source.citation !== null });
    });
  }

  /** A paper from its first page, with its abstract and its sections to jump to. */
  async showPaper(paper) {
    const signal = this.begin({ paper, title: titleOf(paper), mark: null });
    await this.tried(signal, () => this.showPaper(paper), async () => {
      const { sections = [], abstract, reason } = await getJson(this.path, { signal });
      if (reason) this.notice(reason);
      else if (!paper.has_pages && sections.length) this.notice(NO_PAGES);
      if (abstract) this.body.insertBefore(abstractOf(abstract), this.pages.element);
      if (sections.length) this.text.append(this.contents(sections));
      if (paper.has_pages) await this.pages.turnTo(1);
    });
  }

  /** Clear the reader for a paper; mark: where the focus goes back to. The signal ends requests of what was shown. */
  begin({ paper, title, mark }) {
    this.loading?.abort();
    this.loading = new AbortController();
    this.pages?.release();
    this.returnTo?.removeAttribute("aria-current");
    this.returnTo = mark;
    mark?.setAttribute("aria-current", "true");
    this.path = `/api/papers/${encodeURIComponent(paper.paper_id)}`;
    this.frame(title);
    this.pages = new Pages({ paper, where: this.where, signal: this.loading.signal });
    this.steps.replaceWith(this.pages.steps);
    this.body.insertBefore(this.pages.element, this.text);
    showPane("reader");
    this.heading.focus({ preventScroll: true });
    return this.loading.signal;
  }

  frame(title) {
    const back = this.returnTo && button("‹ Answer", () => this.back(), { class: "quiet back" });
    this.heading = el("h2", { id: "reader-title", tabindex: "-1" }, title);
    this.section = el("p", { class: "hint section" });
    this.where = el("p", { class: "where" });
    this.steps = el("div");
    this.facts = el("div", { class: "facts" });
    this.notices = el("div");
    this.text = el("div", { class: "in-text" });
    this.body = el("div", { class: "reader-body" }, this.facts, this.notices, this.text);
    const row = el("div", { class: "row" }, this.where, this.steps);
    this.root.replaceChildren(el("div", { class: "reader-head" }, back, this.heading, this.section, row), this.body);
  }

  async showPlace({ chunk, places, isQuoted }) {
    const isUnknown = !chunk.page_start && !places.length;
    const hasImage = this.pages.paper.has_pages && places.length > 0;
    if (isUnknown) this.where.textContent = pageWords({});
    if (!hasImage) this.notice(isUnknown ? NO_PAGE : NO_IMAGE);
    else if (isQuoted && !places.every((place) => place.is_exact))
      this.notice(places.some((place) => place.boxes.length) ? BLOCK_MARKED : NOT_MARKED);
    this.text.replaceChildren(inText(chunk, { isQuoted, isOpen: !hasImage || isPhone() }));
    if (hasImage) await this.pages.show(places);
    else this.text.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  }

  contents(sections) {
    const item = (section) => {
      const go = () => (this.pages.paper.has_pages && section.page_start ? this.turnTo(section) : this.read(section));
      const name = button(section.title || "Untitled", go, { class: "link" });
      return el("li", {}, name, el("span", { class: "hint" }, ` ${pageWords(section)}`));
    };
    const list = el("ol", {}, sections.map(item));
    return el("details", { class: "more contents", open: true }, el("summary", {}, "Sections"), list);
  }

  async turnTo(section) {
    await this.pages.turnTo(section.page_start);
    this.pages.element.scrollIntoView({ block: "nearest" });
  }

  /** The text of a section that has no page to turn to. */
  async read({ section_id: id }) {
    const signal = this.loading.signal;
    await this.tried(signal, () => this.read({ section_id: id }), async () => {
      const found = await getJson(`${this.path}/sections/${encodeURIComponent(id)}`, { signal });
      this.where.textContent = pageWords(found.section);
      this.section.textContent = found.section.path;
      this.notices.replaceChildren(plainText(found.text));
      this.heading.focus();
    });
  }

  /** Run something that may fail; what went wrong is shown, unless something else is shown meanwhile. */
  async tried(signal, retry, run) {
    try {
      await run();
    } catch (error) {
      if (!signal.aborted) this.notices.replaceChildren(problemBlock(asProblem(error), retry));
    }
  }

  notice(words) {
    this.notices.append(el("p", { class: "notice" }, words));
  }

  pressed(event) {
    if (event.key === "Escape") this.back();
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || !this.pages?.canTurn(step)) return;
    event.preventDefault();
    this.pages.turnTo(this.pages.page + step);
  }

  back() {
    showPane("conversation");
    this.returnTo?.focus();
  }
}

function sourceFacts({ citation, context, claim, support }) {
  const words = searchWords(context);
  const search = words && el("p", { class: "fact" }, words);
  if (!citation) return [el("p", { class: "fact" }, ONLY_READ), search].filter(Boolean);
  const isOtherWords = citation.quote !== claim;
  const quoted = smallTable(citation.quote, citation.quote) ?? citation.quote;
  const quote = isOtherWords ? el("blockquote", { class: "quote" }, quoted) : null;
  return [...verificationFacts({ citation, support }), search, quote].filter(Boolean);
}
