// The list of papers: search, state, adding, removing.

import { getJson, request, sendJson } from "./api.js";
import { button, byId, counted, el, shortened } from "./dom.js";
import { problemBlock, toast } from "./notices.js";
import { titleOf } from "./words.js";

const NO_PAPERS = "No papers yet. Add some below, or put files into the papers folder and run rag-assets run.";
const STATES = { quarantined: "Not readable", waiting: "Waiting for a run" };

/** filters: what is ticked; open(paper): shows it in the reader; onChange(): after papers came or went. */
export class Papers {
  constructor({ filters, open, onChange }) {
    Object.assign(this, { filters, open, onChange });
    this.all = new Map(); // paper id -> paper
    this.found = null; // ids of the papers that were looked for; null: all
    byId("find-paper").addEventListener("input", () => this.find().catch((error) => toast(error.message)));
    byId("sort-papers").addEventListener("change", () => this.load());
    byId("upload").addEventListener("change", ({ target }) => {
      this.add([...target.files]);
      target.value = "";
    });
    byId("remove-all").addEventListener("click", () => this.removeAll());
    startDropping(byId("papers"), (files) => this.add(files));
  }

  titleOf(paperId) {
    return titleOf(this.all.get(paperId) ?? { paper_id: paperId });
  }

  /** Read the list anew. */
  async load() {
    try {
      const { papers } = await getJson(`/api/papers?sort=${byId("sort-papers").value}`);
      this.all = new Map(papers.map((paper) => [paper.paper_id, paper]));
      this.filters.keepOnly(new Set(this.all.keys()));
      this.filters.setSources([...new Set(papers.map((paper) => paper.source).filter(Boolean))].sort());
      await this.find();
    } catch (error) {
      byId("paper-list").replaceChildren(el("li", {}, problemBlock(error, () => this.load())));
    }
  }

  /** Show the papers with the words in the field, which the server finds by author and text, too. Throws Problem. */
  async find() {
    const words = byId("find-paper").value.trim();
    const reply = words && (await getJson(`/api/papers?find=${encodeURIComponent(words)}`));
    if (words !== byId("find-paper").value.trim()) return; // typed on meanwhile
    this.found = reply ? new Set(reply.papers.map((paper) => paper.paper_id)) : null;
    this.show();
  }

  show() {
    const found = [...this.all.values()].filter((paper) => !this.found || this.found.has(paper.paper_id));
    byId("papers-count").textContent = this.countWords(found.length, this.found !== null);
    byId("paper-list").replaceChildren(...found.map((paper) => this.item(paper)));
  }

  countWords(nFound, isSearched) {
    if (!this.all.size) return NO_PAPERS;
    if (isSearched) return `${nFound} of ${counted(this.all.size, "paper")}`;
    const unread = [...this.all.values()].filter((paper) => paper.state !== "ready").length;
    return unread ? `${counted(this.all.size, "paper")}, ${unread} not searched` : counted(this.all.size, "paper");
  }

  item(paper) {
    const title = titleOf(paper);
    const isReady = paper.state === "ready";
    const ticked = (event) => this.filters.tick(paper.paper_id, event.target.checked);
    const tick = el("input", {
      type: "checkbox",
      "aria-label": `Ask ${title}`,
      checked: this.filters.papers.has(paper.paper_id),
      disabled: !isReady,
      onchange: ticked,
    });
    const state = STATES[paper.state] && el("b", { class: "state" }, STATES[paper.state]);
    const nPages = paper.n_pages && counted(paper.n_pages, "page");
    const writers = paper.authors.length > 3 ? `${paper.authors[0]} et al.` : paper.authors.join(", ");
    const record = [writers, paper.year].filter(Boolean).join(", ");
    const facts = [paper.source?.toUpperCase(), nPages, isReady && counted(paper.n_chunks, "chunk")].filter(Boolean);
    return el(
      "li",
      { class: `paper ${paper.state}`, "data-paper": paper.paper_id },
      tick,
      el(
        "div",
        { class: "paper-text" },
        button(title, () => this.open(paper), { class: "paper-title" }),
        record && el("p", { class: "hint" }, record),
        paper.missing.length > 0 &&
          el("p", { class: "hint" }, `Not printed where looked for: ${paper.missing.join(", ")}. “Correct” names them.`),
        el("p", { class: "hint" }, state, facts.join(" · ")),
        paper.abstract && el("p", { class: "abstract" }, paper.abstract),
        paper.reason && el("p", { class: "reason" }, paper.reason),
        button("Correct", () => this.correct(paper), { class: "quiet", "aria-label": `Correct ${title}` }),
      ),
      button("×", () => this.remove(paper), { class: "quiet remove", "aria-label": `Remove ${title}` }),
    );
  }

  async add(files) {
    for (const file of files) {
      const body = new FormData();
      body.append("file", file);
      try {
        const { run_id: run } = await (await request("/api/papers", { method: "POST", body })).json();
        await this.load();
        this.follow(run, `Adding ${file.name}`, `${file.name} was added. You can ask about it.`);
      } catch (error) {
        byId("runs").append(refused(file.name, error));
      }
    }
  }

  /** Asks for title, authors, year and DOI, and sends what was changed. */
  correct(paper) {
    const dialog = byId("correct");
    const { title, authors, year, doi } = paper;
    const shown = { title, authors: authors.join("\n"), year: String(year ?? ""), doi };
    const field = (name) => byId(`correct-${name}`);
    for (const [name, value] of Object.entries(shown)) field(name).value = value;
    byId("correct-form").onsubmit = async () => {
      const values = Object.keys(shown).map((name) => [name, field(name).value.trim()]);
      const changed = Object.fromEntries(values.filter(([name, value]) => value && value !== shown[name]));
      if ("authors" in changed) changed.authors = changed.authors.split("\n").map((name) => name.trim()).filter(Boolean);
      if ("year" in changed) changed.year = Number(changed.year);
      if (!Object.keys(changed).length) return;
      try {
        const path = `/api/papers/${encodeURIComponent(paper.paper_id)}/record`;
        const { run_id: run } = await (await sendJson(path, changed, { method: "PUT" })).json();
        this.follow(run, `Correcting ${paper.paper_id}`, "The record is corrected.");
      } catch (error) {
        toast(error.message);
      }
    };
    dialog.showModal();
  }

  async remove(paper) {
    if (!confirm(`Remove “${shortened(titleOf(paper))}” from the papers? It goes to the trash folder.`)) return;
    await this.discard(`/api/papers/${encodeURIComponent(paper.paper_id)}`, `“${shortened(titleOf(paper))}”`);
  }

  async removeAll() {
    const words = `delete ${counted(this.all.size, "paper")}`;
    const typed = prompt(`All papers go to the trash folder. To remove them, type: ${words}`);
    if (typed) await this.discard(`/api/papers?confirm=${encodeURIComponent(typed.trim())}`, "All papers");
  }

  /** name: what is removed, as the page calls it. */
  async discard(path, name) {
    try {
      const { run_id: run, trash_id: trash } = await (await request(path, { method: "DELETE" })).json();
      toast(`Removed: ${name}.`, { label: "Undo", run: () => this.restore(trash, name) });
      await this.load();
      this.follow(run, `Removing ${name}`);
    } catch (error) {
      toast(error.message);
    }
  }

  async restore(trash, name) {
    try {
      const reply = await request(`/api/trash/${encodeURIComponent(trash)}/restore`, { method: "POST" });
      const { run_id: run } = await reply.json();
      await this.load();
      this.follow(run, `Bringing back ${name}`, `Back again: ${name}.`);
    } catch (error) {
      toast(error.message);
    }
  }

  follow(run, label, message = "") {
    if (!run) return; // nothing runs now; the next run takes the change in
    followRun(run, label, async (isSuccess) => {
      await this.load();
      await this.onChange();
      if (isSuccess && message) toast(message);
    });
  }
}

function refused(name, error) {
  const block = problemBlock(error);
  block.prepend(el("p", { class: "hint" }, `${name} was not added`));
  block.append(button("Close", () => block.remove(), { class: "quiet" }));
  return block;
}

/** Files dropped anywhere on the pane. */
function startDropping(pane, add) {
  const over = (isOver) => pane.classList.toggle("dropping", isOver);
  pane.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  pane.addEventListener("dragleave", ({ relatedTarget }) => pane.contains(relatedTarget) || over(false));
  pane.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    add([...event.dataTransfer.files]);
  });
}

const POLL_MS = 1000;
const ENDED = new Set(["succeeded", "failed"]);

/** Show a run until it ended, then call onEnd(isSuccess). label: what it does, as "Adding smith2020.pdf". */
export async function followRun(runId, label, onEnd) {
  const state = el("span", { class: "hint" }, "Waiting to start");
  const bar = el("progress", { max: 1, value: 0, "aria-label": label });
  const block = el("div", { class: "run" }, el("strong", {}, label), bar, state);
  byId("runs").append(block);
  let run = { state: "queued", steps: [] };
  try {
    while (!ENDED.has(run.state)) {
      run = await getJson(`/api/runs/${encodeURIComponent(runId)}`);
      showRun(run, bar, state);
      if (!ENDED.has(run.state)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    run = { state: "failed", message: error.message };
  }
  const isSuccess = run.state === "succeeded";
  if (isSuccess) block.remove();
  else block.replaceChildren(el("strong", {}, `${label}: failed`), el("p", {}, run.message ?? ""), closing(block));
  await onEnd(isSuccess);
}

function showRun({ state: name, steps, message }, bar, state) {
  const done = steps.filter((step) => step.state === "succeeded" || step.state === "skipped").length;
  const current = steps.find((step) => step.state === "running" || step.state === "started");
  bar.max = Math.max(1, steps.length);
  bar.value = done;
  if (name === "queued") state.textContent = message || "Waiting to start";
  else state.textContent = current ? `${done + 1} of ${steps.length}: ${current.asset}` : message || "Running";
}

function closing(block) {
  return button("Close", () => block.remove(), { class: "quiet" });
}
