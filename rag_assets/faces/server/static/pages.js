// Pages of one paper as images: those of a quote, and any other to turn to.

import { asProblem, pageImage } from "./api.js";
import { button, el } from "./dom.js";
import { problemBlock } from "./notices.js";
import { enlarge, isEnlarged } from "./view.js";
import { pageWords } from "./words.js";

export class Pages {
  /** where: the element that names the page; signal: ends the requests. */
  constructor({ paper, where, signal }) {
    Object.assign(this, { paper, where, signal });
    this.element = el("div", { class: "pages" });
    this.steps = el("div", { class: "steps" });
    this.quoted = []; // places of the quote: {page, page_label, boxes}
    this.page = null;
    this.figures = [];
  }

  /** The pages of a quote, scrolled to what is marked. */
  async show(places) {
    this.quoted = places;
    this.quotedWords ??= this.where.textContent;
    this.where.textContent = this.quotedWords;
    await this.draw(places);
    if (!this.signal.aborted) this.figures[0].scrollToMark();
  }

  /** Another page of the paper, without marks unless the quote stands there. */
  async turnTo(page) {
    const quoted = this.quoted.filter((place) => place.page === page);
    const places = quoted.length ? quoted : [{ page, page_label: null, boxes: [] }];
    this.where.textContent = pageWords({ page_start: page, page_label: places[0].page_label });
    await this.draw(places);
  }

  canTurn(step) {
    const page = this.page + step;
    return this.page !== null && page >= 1 && page <= (this.paper.n_pages ?? Infinity);
  }

  /** Let go of the images. */
  release() {
    this.figures.forEach((figure) => figure.release());
  }

  async draw(places) {
    this.release();
    this.places = places;
    this.page = places[0].page;
    this.showSteps();
    this.figures = places.map((place) => pageFigure(this.paper.paper_id, place, this.signal));
    this.element.replaceChildren(...this.figures.map((figure) => figure.element));
    await Promise.all(this.figures.map((figure) => figure.loaded));
  }

  showSteps() {
    const step = (sign, words, by) => {
      const state = { class: "quiet", "aria-label": words, disabled: !this.canTurn(by) };
      return button(sign, () => this.turnTo(this.page + by), state);
    };
    const isAway = this.quoted.length > 0 && !this.quoted.some((place) => place.page === this.page);
    const number = this.paper.n_pages ? el("span", { class: "hint" }, `${this.page} / ${this.paper.n_pages}`) : null;
    const fromEnd = [...this.steps.children].reverse().indexOf(document.activeElement);
    this.steps.replaceChildren(
      ...(isAway ? [button("To the quote", () => this.show(this.quoted), { class: "quiet" })] : []),
      button("Enlarge", () => this.enlarge(), { class: "quiet enlarge", "aria-pressed": String(isEnlarged()) }),
      step("‹", "Previous page", -1),
      ...(number ? [number] : []),
      step("›", "Next page", 1),
    );
    [...this.steps.children].reverse()[fromEnd]?.focus(); // the button that was pressed, as it is now
  }

  /** The page in the full width of the window, drawn anew to be sharp in it; or back. */
  async enlarge() {
    enlarge(!isEnlarged());
    await this.draw(this.places);
    if (!this.signal.aborted) this.figures[0].scrollToMark();
  }
}

const WIDTHS = [1000, 1500, 2000]; // few widths, so that the server's cache and the browser's hold what is asked for

const SHARP_AT = 1.5; // enlarged so much, the image is still sharp

/**
 * The figure of a page: {element, loaded, scrollToMark, release}. place: {page, page_label, boxes}; a box has left, top,
 * right, bottom as fractions of the page from its top left corner.
 */
export function pageFigure(paperId, place, signal) {
  const image = el("img", { class: "page-image", alt: `Image of page ${place.page}` });
  const markings = el("div", { class: "markings", "aria-hidden": "true" }, place.boxes.map(marking));
  const sheet = el("div", { class: "sheet" }, image, markings);
  const words = pageWords({ page_start: place.page, page_label: place.page_label });
  const caption = el("figcaption", { class: "hint" }, words);
  const element = el("figure", { class: "page", "aria-busy": "true" }, sheet, caption);
  const release = () => URL.revokeObjectURL(image.src);
  const scrollToMark = () => (sheet.querySelector(".marking") ?? sheet).scrollIntoView({ block: "nearest" });
  return { element, loaded: loadImage(paperId, place.page, { element, sheet, image, signal }), scrollToMark, release };
}

async function loadImage(paperId, page, { element, sheet, image, signal }) {
  try {
    image.src = await pageImage(paperId, page, widthFor(document.getElementById("reader").clientWidth), signal);
    await image.decode();
  } catch (error) {
    if (!signal.aborted) sheet.replaceChildren(problemBlock(asProblem(error)));
  }
  element.removeAttribute("aria-busy");
}

function marking({ left, top, right, bottom }) {
  const box = el("div", { class: "marking" });
  const percent = { left, top, width: right - left, height: bottom - top };
  for (const [name, share] of Object.entries(percent)) box.style.setProperty(name, `${share * 100}%`);
  return box;
}

function widthFor(cssPixels) {
  const wanted = cssPixels * (devicePixelRatio || 1) * SHARP_AT;
  return WIDTHS.find((width) => width >= wanted) ?? WIDTHS.at(-1);
}
