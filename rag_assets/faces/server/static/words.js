// What the page says about pages, quotes and evidence.

import { counted } from "./dom.js";

const VERIFICATION = {
  exact: "Word for word in the paper",
  normalized: "In the paper; only typesetting differs (spaces, hyphens, quotation marks)",
  approximate: "Nearly word for word: the claim left words out; shown are the paper's own",
  unplaced: "The words are in the paper; read the row in the table",
  unread: "A sign of it (\ufffd) could not be read in the PDF; read it on the page",
};

const DROPPED = {
  "quote not found": "its quote does not stand in the paper",
  unusable: "it is too long, or cites what was not given",
  "no citation": "nothing in the papers carries it",
  "no text": "it said nothing",
  "number missing": "a number of it stands in none of its quotes",
  "number misplaced": "a number of it belongs to another row, column or group",
  "number unproven": "a number of it stands in none of its quotes, and may follow from them",
  "row uncertain": "whose values the quoted row holds is not certain: read it in the table",
  "other year": "its quotes are of another year than the one asked for",
  "turned round": "its quotes say the opposite",
  surer: "its quotes call possible what it tells as a fact",
  "name missing": "a name of it stands nowhere around its quotes",
  unrelated: "its quotes speak of something else",
  "not supported": "a model that compared it with its quotes found that they do not carry it",
};

export const verificationWords = (verification) => VERIFICATION[verification] ?? `Verified: ${verification}`;

export const droppedWords = ({ reason, message }) => message || DROPPED[reason] || reason;

/** What stands beside a claim that its quotes carry in part or that is doubted, with the reason, that is computed from them, that quotes a row whose values
 * may be another's, in which a sign could not be read, or that its quotes report of other works; empty for any other. */
export const claimNotes = ({ support, computed, reported, citations }) =>
  [
    supportMark(support),
    computed?.length && `computed: ${computed.join("; ")}`,
    ...["unplaced", "unread"].map((kind) => citations?.some(({ verification }) => verification === kind) && VERIFICATION[kind]),
    reported?.length && "reported",
  ].filter(Boolean);

function supportMark(support) {
  const judged = support?.judged ?? 1;
  const mark = judged < 0.75 ? "in part" : support?.why && "doubted";
  return mark && support.why ? `${mark}: ${support.why}` : mark;
}

/** The first works that a claim reports, as its paper lists them; none for a row of a table, which may cite one in each
 * cell. */
export const reportedWorks = ({ text, reported }) =>
  text.includes(" | ") ? [] : (reported ?? []).slice(0, 3).map(entryWords);

const entryWords = ({ text, paper_id: paper }) => `“${text}”${paper ? ` (in this corpus: ${paper})` : ""}`;

/** "p. 2 (printed 418)", "pp. 2–3", "p. 2, read by OCR", "page unknown". */
export function pageWords({ page_start: first, page_end: last, page_label: label, is_by_ocr: isByOcr }) {
  if (!first) return "page unknown";
  const isOne = !last || last === first;
  const pages = isOne ? `p. ${first}` : `pp. ${first}–${last}`;
  const physical = isOne ? String(first) : `${first}-${last}`;
  const printed = label && label !== physical ? ` (printed ${label})` : "";
  return `${pages}${printed}${isByOcr ? ", read by OCR" : ""}`;
}

const IN_BRACKETS = /^([([])((?:[^()[\]]|\([^()]*\)|\[[^[\]]*\])+)([)\]])$/;

/** "Lund & Moe (2019), p. 2"; the pages alone where the authors are not known; "[1, p. 2]" in the brackets of a style. */
export function placeWords(citation) {
  const cited = citation.cited_as === citation.paper_id ? "" : citation.cited_as;
  const [, opening, name, closing] = IN_BRACKETS.exec(cited) ?? ["", "", cited, ""];
  const pages = opening && !citation.page_start ? "" : pageWords(citation);
  const words = [name, pages, citation.is_retracted && "retracted"].filter(Boolean);
  return `${opening}${words.join(", ")}${closing}`;
}

/** What follows a claim: the place of the quote, where a style puts it in brackets, else its number. */
export const markWords = (citation, number) =>
  IN_BRACKETS.test(citation.cited_as) ? placeWords(citation) : String(number);

/** How well the quotes carry a claim; null for a claim that is its own quote. */
export function supportWords(support) {
  if (!support || support.score === null || support.score === undefined) return null;
  const judged = support.judged ?? null;
  const verdict = judged === null ? "" : `, judged by a model ${percent(judged)}`;
  return `Support: likeness ${percent(support.score)}${verdict}`;
}

/** How the search found a chunk; null for a neighbour of what it found. */
export function searchWords(context) {
  if (context?.score === null || context?.score === undefined) return null;
  const likeness = context.similarity === null ? "" : `, likeness ${percent(context.similarity)}`;
  return `Search: score ${context.score.toFixed(2)}${likeness}`;
}

/** "2 requests, 8,120 tokens read, 214 written, $0.0031, 12 s"; empty where no model was asked. seconds: null where they
 * are not known. */
export function costWords(usage, seconds) {
  if (!usage?.n_requests) return "";
  const { cost_usd: usd, n_input_tokens: nRead, n_output_tokens: nWritten } = usage;
  return [
    counted(usage.n_requests, "request"),
    `${nRead.toLocaleString("en")} tokens read`,
    `${nWritten.toLocaleString("en")} written`,
    usd === null ? "price not known" : usd > 0 && `$${usd.toFixed(4)}`,
    seconds !== null && `${Math.round(seconds)} s`,
  ].filter(Boolean).join(", ");
}

/** "hnsw_graphs.tei" tells more than an empty title. */
export const titleOf = (paper) => paper.title?.trim() || paper.paper_id;

const percent = (figure) => `${Math.round(figure * 100)}%`;
