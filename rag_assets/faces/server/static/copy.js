// Answers as text for elsewhere: plain or Markdown, with their citations.

import { byId, el } from "./dom.js";
import { toast } from "./notices.js";
import { claimNotes, markWords, placeWords } from "./words.js";

export const SINGLE_SOURCE = "Only one paper of the corpus supports this answer.";
const FEW_SOURCES = "papers of the corpus support this answer.";
const SELF_JUDGED = "One model wrote these statements and compared them with their quotes.";
const UNJUDGED = "The statements were compared with their quotes by rules alone: no model could take a second look.";

/** An entry of `unanswered` that is no part of the question, but says itself what was not found. */
const IS_NOTE = /^\[INSUFFICIENT DATA\]|^What was found is of |^Not asked to the end: /;

/** Claims with numbers, then the sources with page and quote. titleOf: paper id -> title. */
export function asText(question, answer, titleOf) {
  if (answer.refused || !answer.claims.length) return `${[question, answer.answer, ...(answer.unanswered ?? [])].join("\n\n")}\n`;
  const { claims, sources } = numbered(answer);
  return [
    question,
    ...leadOf(answer),
    claims.map(({ text, marks }) => `${text} ${marks}`).join("\n\n"),
    ...remarks(answer),
    sources
      .map((one) => `${one.mark} ${titleOf(one.paper_id)} (${one.paper_id}), ${placeWords(one)}: “${one.quote}”`)
      .join("\n"),
    ...(answer.references?.length ? [["References", ...answer.references].join("\n")] : []),
  ].join("\n\n") + "\n";
}

/** The same as Markdown: the question as a heading, quotes as block quotes. */
export function asMarkdown(question, answer, titleOf) {
  if (answer.refused || !answer.claims.length)
    return `${[`## ${escaped(question)}`, ...[answer.answer, ...(answer.unanswered ?? [])].map(escaped)].join("\n\n")}\n`;
  const { claims, sources } = numbered(answer);
  return [
    `## ${escaped(question)}`,
    ...leadOf(answer).map(escaped),
    ...claims.map(({ text, marks }) => `${escaped(text)} ${escaped(marks)}`),
    ...remarks(answer).map((remark) => `*${escaped(remark)}*`),
    "### Sources",
    ...sources.map((one) => {
      const place = `(${escaped(one.paper_id)}), ${escaped(placeWords(one))}`;
      return `${one.number}. *${escaped(titleOf(one.paper_id))}* ${place}\n\n   > ${escaped(one.quote)}`;
    }),
    ...(answer.references?.length ? ["### References", answer.references.map((one) => `- ${escaped(one)}`).join("\n")] : []),
  ].join("\n\n") + "\n";
}

/** Claims of any answers as Markdown: their quotes as sources, and the list of papers. */
export function pinsAsMarkdown(claims, titleOf) {
  const papers = new Map(claims.flatMap(({ citations }) => citations.map((one) => [one.paper_id, one.cited_as])));
  const references = [...papers].map(([id, name]) => [name === id ? "" : name, titleOf(id), `(${id})`].filter(Boolean).join(" "));
  return asMarkdown("Pinned claims", { claims, references }, titleOf);
}

/** A kept conversation as Markdown, to be read anywhere. */
export const conversationAsMarkdown = ({ title, turns }, titleOf) =>
  [`# ${escaped(title)}\n`, ...turns.map(({ question, answer }) => asMarkdown(question, answer, titleOf))].join("\n");

/** Have the browser save a text, or bytes, as a file. */
export function saved(content, name) {
  const address = URL.createObjectURL(new Blob([content], { type: "text/plain" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 0); // after the click has been taken up
}

/** Put text on the clipboard and say so. Browsers give the clipboard's own interface to secure addresses only. */
export async function copied(text, what) {
  const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  if (isCopied || copiedBySelection(text)) toast(`${what} copied.`);
  else toast("The browser did not allow copying.");
}

/** What is to be said besides the claims: fewer papers than were asked for, parts without an answer, names that were not found, statements
 * that were left out, no second look. */
export function remarks(answer) {
  return [
    answer.single_source && answer.named_papers?.length > 1 && fewSources(answer),
    ...(answer.unanswered ?? []).map((part) => (IS_NOTE.test(part) ? part : `Not answered: ${part}`)),
    answer.missing_names?.length && `Nowhere in what was found: ${answer.missing_names.join(", ")}`,
    answer.left_out?.length && leftOutWords(answer.left_out.length),
    answer.unjudged ? UNJUDGED : answer.is_self_judged && SELF_JUDGED,
  ].filter(Boolean);
}

/** The paragraph above the claims, as the only item of a list; empty without one. */
const leadOf = ({ lead = [] }) => (lead.length ? [lead.map(({ text }) => text).join(" ")] : []);

function fewSources({ claims }) {
  const works = new Set(claims.flatMap(({ citations }) => citations.map((one) => one.work || one.paper_id)));
  return works.size > 1 ? `Only ${works.size} ${FEW_SOURCES}` : SINGLE_SOURCE;
}

function leftOutWords(n) {
  if (n === 1) return "One statement was left out, because its quotes do not carry it.";
  return `${n} statements were left out, because their quotes do not carry them.`;
}

function numbered(answer) {
  const sources = [];
  const claims = answer.claims.map((claim) => {
    const { text, citations } = claim;
    const notes = claimNotes(claim);
    const marks = citations.map((citation) => {
      const number = sources.length + 1;
      const words = markWords(citation, number);
      sources.push({ ...citation, number, mark: words === String(number) ? `[${number}]` : words });
      return sources.at(-1).mark;
    });
    return { text: notes.length ? `${text} (${notes.join("; ")})` : text, marks: marks.join("") };
  });
  return { claims, sources };
}

/** Markdown's own characters keep their look and lose their meaning; line breaks would end a quote. */
const escaped = (text) => text.replace(/\s*[\r\n]+\s*/g, " ").replace(/[\\`*_[\]<>#|!~&$]/g, "\\$&");

function copiedBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "unseen";
  byId("toasts").append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}
