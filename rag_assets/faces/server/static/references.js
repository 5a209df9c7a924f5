// The papers that answers cite, as a list of references in a style or as a file for a reference manager.

import { asProblem, sendJson } from "./api.js";
import { copied, saved } from "./copy.js";
import { el } from "./dom.js";
import { toast } from "./notices.js";

const FILES = { bibtex: ["BibTeX", "references.bib"], ris: ["RIS", "references.ris"], "csl-json": ["CSL-JSON", "references.json"] };
const STYLES = { "author-year": "By authors and year", numeric: "Numbered" };

/** A menu that copies the references in a style, or saves them as a file. answers(): rows of qa.jsonl, or a promise of
 * them; label: what they are the references of. */
export function referencesMenu(answers, label) {
  const chosen = async ({ target }) => {
    const style = target.value;
    target.value = "";
    try {
      const body = { paper_ids: papersCited(await answers()), style };
      const text = await (await sendJson("/api/references", body)).text();
      if (FILES[style]) saved(text, FILES[style][1]);
      else await copied(text, `References (${STYLES[style]})`);
    } catch (error) {
      toast(asProblem(error).message);
    }
  };
  return el(
    "select",
    { class: "quiet", "aria-label": label, onchange: chosen },
    el("option", { value: "" }, "References"),
    el("optgroup", { label: "Copy as" }, Object.entries(STYLES).map(([value, name]) => el("option", { value }, name))),
    el("optgroup", { label: "Save as" }, Object.entries(FILES).map(([value, [name]]) => el("option", { value }, name))),
  );
}

const papersCited = (answers) => [
  ...new Set(answers.flatMap(({ claims }) => claims.flatMap(({ citations }) => citations.map((one) => one.paper_id)))),
];
