// The image of a page with boxes over it.

import { asProblem, pageImage } from "./api.js";
import { el } from "./dom.js";
import { problemBlock } from "./notices.js";
import { pageWords } from "./words.js";

const WIDTHS = [1000, 1500, 2000]; // few widths, so that the server's cache and the browser's hold what is asked for

const SHARP_AT = 1.5; // enlarged so much, the image is still sharp

/**
 * The figure of a page: {element, loaded, scrollToMark, release}. place: {page, page_label, boxes}; a box is left, top,
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

function marking([left, top, right, bottom]) {
  const box = el("div", { class: "marking" });
  const percent = { left, top, width: right - left, height: bottom - top };
  for (const [name, share] of Object.entries(percent)) box.style.setProperty(name, `${share * 100}%`);
  return box;
}

function widthFor(cssPixels) {
  const wanted = cssPixels * (devicePixelRatio || 1) * SHARP_AT;
  return WIDTHS.find((width) => width >= wanted) ?? WIDTHS.at(-1);
}
