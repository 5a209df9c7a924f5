// A row of a table, drawn as a small table.

import { el } from "./dom.js";

const BETWEEN_CELLS = " | ";
const BEHIND_LABEL = ": ";

/** quote: the row as its paper is read, "Group: A | Ferritin (ng/mL): 12" (corpus/chunking/table_rows.py); the text may
 * have the table's name before it, and fewer cells. Null for a text that is no row. */
export function smallTable(text, quote) {
  const row = new Set(quote.split(BETWEEN_CELLS));
  const parts = text.split(BETWEEN_CELLS);
  const cells = parts.filter((part) => row.has(part)).map(labelAndValue);
  if (cells.filter(([label]) => label).length < 2) return null;
  const name = parts.filter((part) => !row.has(part)).join(", ");
  const labels = el("tr", {}, cells.map(([label]) => el("th", { scope: "col" }, label)));
  const values = el("tr", {}, cells.map(([, value]) => el("td", {}, value)));
  return el("div", { class: "small-table" }, el("table", {}, name && el("caption", {}, name), labels, values));
}

function labelAndValue(cell) {
  const at = cell.indexOf(BEHIND_LABEL);
  return at < 0 ? ["", cell] : [cell.slice(0, at), cell.slice(at + BEHIND_LABEL.length)];
}
