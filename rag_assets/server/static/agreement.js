// Where papers agree or contradict each other: both quotes side by side, below the claims that cite them.

import { button, counted, el } from "./dom.js";
import { pageWords } from "./words.js";

const SIDES = { supporting: "says", contradicting: "against it", different: "differs" };
const HEADINGS = {
  contradict: "Papers differ",
  different: "Different findings, perhaps under different conditions",
};

/** The groups of an answer that a claim is in, as elements. open(quote, mark): shows it in the reader. */
export function agreementOf(claimNumber, groups, { open, titleOf }) {
  return (groups ?? [])
    .filter((group) => quotesOf(group).some(({ claim }) => claim === claimNumber))
    .map((group) => sideBySide(group, { open, titleOf }));
}

function sideBySide(group, { open, titleOf }) {
  const quotes = quotesOf(group);
  const nPapers = new Set(quotes.map(({ citation }) => citation.paper_id)).size;
  const heading = HEADINGS[group.relation] ?? `${counted(nPapers, "paper")} agree`;
  const sides = quotes.map((quote) => {
    const { side, citation } = quote;
    const show = (event) => open(quote, event.currentTarget);
    const source = button(titleOf(citation.paper_id), show, { class: "link" });
    return el(
      "figure",
      { class: "side" },
      el("figcaption", {}, el("b", {}, SIDES[side]), " ", source, ` ${pageWords(citation)}`),
      el("blockquote", { class: "quote" }, citation.quote),
    );
  });
  return el(
    "details",
    { class: `agreement ${group.relation}`, open: group.relation === "contradict" },
    el("summary", {}, `${heading}: ${group.about}`),
    el("div", { class: "sides" }, sides),
  );
}

const quotesOf = (group) =>
  Object.keys(SIDES).flatMap((side) => (group[side] ?? []).map((quote) => ({ ...quote, side })));
