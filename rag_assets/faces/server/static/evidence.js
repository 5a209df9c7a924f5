// How sure an answer can be of a citation, as elements: the band of its evidence, and the facts of its quote.

import { el } from "./dom.js";
import { BANDS, pageWords, supportWords, verificationWords } from "./words.js";

const GENERATED = "These words describe a figure and were written by a model, not by the authors";
const BARS = { strong: 3, partial: 2, weak: 1 };

/** A band in words, colour and bars; null where nothing rated the evidence. */
export function bandLabel(band) {
  if (!BANDS[band]) return null;
  const bars = [1, 2, 3].map((n) => el("i", { class: n <= BARS[band] ? "bar on" : "bar" }));
  return el("span", { class: `band ${band}` }, el("span", { class: "bars", "aria-hidden": "true" }, bars), BANDS[band]);
}

/** Quote, place, verification and support of a citation. */
export function quoteFacts({ citation, title, support }) {
  return [
    el("p", { class: "card-source" }, `${title}, ${pageWords(citation)}`),
    el("blockquote", { class: "quote" }, citation.quote),
    ...verificationFacts({ citation, support }),
  ];
}

/** What is known of a quote besides its words. */
export function verificationFacts({ citation, support }) {
  const supported = supportWords(support) ?? (support ? "The sentence is the paper's own" : null);
  return [
    el("p", { class: `fact ${citation.verification}` }, verificationWords(citation.verification)),
    supported && el("p", { class: "fact" }, supported),
    citation.is_generated &&
      el("p", { class: "fact warning" }, GENERATED),
  ].filter(Boolean);
}
