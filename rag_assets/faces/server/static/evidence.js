// How sure an answer can be of a citation, and the card beside a mark that shows it on hover or focus.

import { byId, el } from "./dom.js";
import { smallTable } from "./small_table.js";
import { placeWords, supportWords, verificationWords } from "./words.js";

const GENERATED = "These words describe a figure and were written by a model, not by the authors";

/** Quote, place, verification and support of a citation. */
export function quoteFacts({ citation, title, support }) {
  return [
    el("p", { class: "card-source" }, `${title}, ${placeWords(citation)}`),
    el("blockquote", { class: "quote" }, smallTable(citation.quote, citation.quote) ?? citation.quote),
    ...verificationFacts({ citation, support }),
  ];
}

/** What is known of a quote besides its words. */
export function verificationFacts({ citation, support }) {
  const supported = supportWords(support) ?? (support ? "The words are the paper's own" : null);
  return [
    el("p", { class: `fact ${citation.verification}` }, verificationWords(citation.verification)),
    supported && el("p", { class: "fact" }, supported),
    citation.is_generated &&
      el("p", { class: "fact warning" }, GENERATED),
  ].filter(Boolean);
}

const LEAVING_MS = 200; // time to move the pointer from the mark onto the card
const GAP_PX = 8;
let shownFor = null;
let leaving = 0;

/** Show a card for `mark` on hover and focus; contents() returns its elements each time. */
export function attachCard(mark, contents) {
  mark.addEventListener("mouseenter", () => show(mark, contents()));
  mark.addEventListener("focus", () => mark.matches(":focus-visible") && show(mark, contents()));
  mark.addEventListener("mouseleave", hideSoon);
  mark.addEventListener("blur", hideCard);
}

export function hideCard() {
  clearTimeout(leaving);
  shownFor?.removeAttribute("aria-describedby");
  shownFor = null;
  byId("card").hidden = true;
}

/** Keep the card while the pointer is on it, and beside its mark while the answers scroll; Escape closes it. */
export function startCard() {
  const card = byId("card");
  card.addEventListener("mouseenter", () => clearTimeout(leaving));
  card.addEventListener("mouseleave", hideSoon);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hideCard());
  byId("turns").addEventListener("scroll", () => shownFor && place(), { passive: true });
}

function show(mark, contents) {
  hideCard();
  const card = byId("card");
  card.replaceChildren(...contents);
  card.hidden = false;
  shownFor = mark;
  mark.setAttribute("aria-describedby", card.id);
  place();
}

/** Below the mark, or above it where there is no room below. */
function place() {
  const card = byId("card");
  const { left, top, bottom } = shownFor.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const isAbove = bottom + GAP_PX + height > innerHeight && top > height + GAP_PX;
  card.style.left = `${Math.max(GAP_PX, Math.min(left, innerWidth - width - GAP_PX))}px`;
  card.style.top = `${isAbove ? top - height - GAP_PX : bottom + GAP_PX}px`;
}

function hideSoon() {
  clearTimeout(leaving);
  leaving = setTimeout(hideCard, LEAVING_MS);
}
