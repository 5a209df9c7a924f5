// A table of papers by questions: a row per paper, in each cell what it says, its verified quote and page, or why there is none.

import { asProblem, events, Problem, sendJson } from "./api.js";
import { saved } from "./copy.js";
import { button, byId, counted, el } from "./dom.js";
import { attachCard, quoteFacts } from "./evidence.js";
import { announce, problemBlock } from "./notices.js";
import { smallTable } from "./small_table.js";
import { pageWords } from "./words.js";

const TYPES = { csv: "CSV", xlsx: "Excel", md: "Markdown" };

/** scope(): what of the corpus is asked; open(source, mark): shows it in the reader. */
export function startTable({ scope, open }) {
  const dialog = byId("table");
  byId("open-table").addEventListener("click", () => dialog.showModal());
  byId("table-form").addEventListener("submit", () => {
    const columns = byId("table-questions").value.split("\n").filter((line) => line.trim());
    if (columns.length) make({ columns, ...scope() }, open);
  });
}

async function make(body, open) {
  const state = el("span", { role: "status" }, "Asking the papers");
  const stopping = new AbortController();
  const progress = el("p", { class: "progress" }, state, " ", button("Stop", () => stopping.abort(), { class: "quiet" }));
  const turn = el("article", { class: "turn" }, el("h3", { class: "question" }, body.columns.join(" · ")), progress);
  byId("turns").querySelector(".welcome")?.remove();
  byId("turns").append(turn);
  turn.scrollIntoView({ block: "start" });
  try {
    const options = { headers: { Accept: "text/event-stream" }, signal: stopping.signal };
    for await (const { name, data } of events(await sendJson("/api/tables", body, options))) {
      if (name === "asked") state.textContent = `${data.done} of ${counted(data.of, "cell")}`;
      else if (name === "error") throw new Problem(data.problem ?? data);
      else progress.replaceWith(shown(data, open));
    }
    announce("The table is complete.");
  } catch (error) {
    progress.replaceWith(stopping.signal.aborted ? el("p", { class: "flag" }, "Stopped.") : problemBlock(asProblem(error)));
  }
}

function shown({ columns, rows, counts, files }, open) {
  const head = el("tr", {}, ["Paper", ...columns].map((name) => el("th", { scope: "col" }, name)));
  const body = rows.map((row) =>
    el("tr", {}, el("th", { scope: "row" }, row.title || row.paper_id), row.cells.map((cell) => cellOf(cell, row, open))),
  );
  const save = Object.entries(TYPES).map(([kind, name]) =>
    button(`Save as ${name}`, () => saved(bytesOf(files[kind]), `table.${kind}`), { class: "quiet" }),
  );
  return el(
    "div",
    {},
    el("div", { class: "paper-table", tabindex: 0 }, el("table", {}, el("thead", {}, head), el("tbody", {}, body))),
    el("p", { class: "hint" }, counts),
    el("div", { class: "actions" }, save),
  );
}

function cellOf({ text, citations, reason }, { title }, open) {
  if (!text) return el("td", { class: "hint" }, reason || "No answer");
  const marks = citations.map((citation) => {
    const source = { citation, title, claim: text };
    const label = `${title}, ${pageWords(citation)}. Show it in the paper.`;
    const mark = button(pageWords(citation), () => open(source, mark), { class: "mark", "aria-label": label });
    attachCard(mark, () => quoteFacts(source));
    return mark;
  });
  const quotes = [...new Set(citations.map(({ quote }) => quote))];
  const shown = quotes.map((quote) => el("blockquote", { class: "quote" }, smallTable(quote, quote) ?? quote));
  return el("td", {}, quotes.includes(text) ? "" : text, shown, el("span", { class: "marks" }, marks));
}

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
