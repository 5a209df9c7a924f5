// Brings the parts of the page together.

import { asProblem, getJson, onTokenNeeded } from "./api.js";
import { Conversation } from "./conversation.js";
import { button, byId, counted, el } from "./dom.js";
import { startCard } from "./evidence.js";
import { Filters } from "./filters.js";
import { startHistory } from "./history.js";
import { askForToken, problemBlock } from "./notices.js";
import { Papers } from "./papers.js";
import { startPins } from "./pins.js";
import { Reader } from "./reader.js";
import { startTable } from "./table.js";
import { readAddress, showPane, startPanes, startTheme } from "./view.js";

const NOTHING_TO_ASK =
  "There is nothing to ask yet. Add papers to the list, or put them into the papers folder and run rag-assets run.";
const HOW_TO_READ =
  "Every sentence of an answer quotes a paper. Click the number behind it to see the sentence on its page.";

let known = { topics: [], examples: [] }; // what the corpus is about, and questions that it answers

const filters = new Filters({ onPapersCleared: () => papers.show() });
const papers = new Papers({ filters, open: (paper) => reader.showPaper(paper), onChange: showCorpus });
const reader = new Reader({ paperOf: (id) => papers.all.get(id) });
const titleOf = (id) => papers.titleOf(id);
const conversation = new Conversation({
  scope: () => filters.scope(),
  titleOf,
  open: (source, mark) => reader.showSource(source, mark),
  welcome,
});

function welcome() {
  const isEmpty = ![...papers.all.values()].some((paper) => paper.state === "ready");
  const words = el("p", { class: "welcome-words" }, "What do you want to know?");
  const hint = el("p", { class: "hint" }, isEmpty ? NOTHING_TO_ASK : HOW_TO_READ);
  if (isEmpty) return el("div", { class: "welcome" }, words, hint);
  const about = known.topics.length > 0 && el("p", {}, `These papers are about ${known.topics.join(", ")}.`);
  const asks = known.examples.map((question) => button(question, () => conversation.ask(question)));
  return el("div", { class: "welcome" }, words, about, hint, asks.length > 0 && el("div", { class: "examples" }, asks));
}

async function showCorpus() {
  known = await getJson("/api/health");
  const model = known.model === "extractive" ? "answers without a model" : known.model;
  byId("corpus").textContent = `${counted(known.n_papers, "paper")} · ${model}`;
  byId("turns").querySelector(".welcome")?.replaceWith(welcome());
}

async function openAddress() {
  const { conversation: id, turn, claim } = readAddress();
  if (!id || id === conversation.id) return;
  await opened(id, { turn, claim });
}

async function opened(id, view = {}) {
  showPane("conversation");
  try {
    await conversation.load(id, view);
  } catch (error) {
    byId("turns").replaceChildren(problemBlock(asProblem(error)));
  }
}

function begin() {
  conversation.clear();
  showPane("conversation");
  byId("question").focus();
}

onTokenNeeded(askForToken);
startPanes();
startCard();
startTheme(byId("theme"));
startTable({ scope: () => filters.scope(), open: (source, mark) => reader.showSource(source, mark) });
startPins({ titleOf });
startHistory({ open: opened, onDeleted: (id) => id === conversation.id && begin(), titleOf });
byId("new-conversation").addEventListener("click", begin);
addEventListener("hashchange", openAddress);

byId("turns").replaceChildren(welcome());
await papers.load();
await showCorpus().catch(() => null); // the list of papers has said that the server does not answer
await openAddress();
