// Sentences that came near the question and are no part of the answer.

import { button, el } from "./dom.js";
import { pageWords } from "./words.js";

/** They below an answer, and open below a refusal, as an element; null where there are none. open(source, mark): shows
 * one in the reader. */
export function nearestOf({ nearest, refused }, { open, titleOf }) {
  if (!nearest?.length) return null;
  const heading = refused ? "Nearest sentences, which may not answer it" : "Near the question, and no part of the answer";
  const items = nearest.map(({ text, citations }) => {
    const sources = citations.map((citation) => {
      const title = citation.title || titleOf(citation.paper_id);
      const show = (event) => open({ citation, title, claim: text }, event.currentTarget);
      return el("p", {}, button(title, show, { class: "link" }), el("span", { class: "hint" }, ` ${pageWords(citation)}`));
    });
    return el("li", {}, el("p", { class: "near-text" }, text), sources);
  });
  return el(
    "details",
    { class: "more nearest", open: refused },
    el("summary", {}, `${heading} (${nearest.length})`),
    el("ol", {}, items),
  );
}
