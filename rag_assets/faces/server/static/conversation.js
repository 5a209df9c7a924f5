// The conversation: questions, their answers as they arrive, and what can be done with them.

import { AnswerView } from "./answer.js";
import { asProblem, events, getJson, Problem, request, sendJson } from "./api.js";
import { asMarkdown, asText, copied } from "./copy.js";
import { button, byId, el } from "./dom.js";
import { announce, problemBlock } from "./notices.js";
import { referencesMenu } from "./references.js";
import { hashOf, linkTo, writeAddress } from "./view.js";

const STOPPED = "Stopped. What stands here was verified; the rest was not made.";
const BEING_ADDED = "Papers are being added or removed; this answer was made before that was done. Ask again afterwards.";
const CUT_OFF = "The server closed it before the answer was complete.";

/** scope(): what of the corpus is asked; titleOf: paper id -> title; open(source, mark): shows it in the reader. */
export class Conversation {
  constructor({ scope, titleOf, open, welcome }) {
    Object.assign(this, { scope, titleOf, welcome });
    this.openSource = open;
    this.id = null;
    this.turns = new Map(); // number of the turn -> its AnswerView
    this.running = null; // AbortController of the question under way
    byId("ask").addEventListener("submit", (event) => this.submitted(event));
    byId("stop").addEventListener("click", () => this.running?.abort());
    byId("question").addEventListener("keydown", sendOnEnter);
    byId("question").addEventListener("input", fitHeight);
  }

  /** Begin anew: nothing is shown, nothing is remembered of the last question. */
  clear() {
    this.running?.abort();
    this.id = null;
    this.turns.clear();
    byId("turns").replaceChildren(this.welcome());
    writeAddress({ conversation: null });
  }

  /** Show a kept conversation; turn and claim: what to look at in it, or null. Throws Problem. */
  async load(id, { turn = null, claim = null } = {}) {
    const kept = await getConversation(id);
    this.clear();
    this.id = kept.conversation_id;
    for (const one of kept.turns) this.keptTurn(one);
    writeAddress({ conversation: this.id, turn, claim });
    const shown = turn ?? Math.max(0, ...this.turns.keys());
    const view = this.turns.get(shown);
    view?.element.closest(".turn").scrollIntoView();
    if (claim !== null) view?.markOf(claim)?.click();
  }

  async submitted(event) {
    event.preventDefault();
    const field = byId("question");
    const question = field.value.trim();
    if (!question || this.running) return;
    field.value = "";
    fitHeight({ target: field });
    await this.ask(question);
  }

  /** only: a filter, besides what is chosen on the page. */
  async ask(question, only = "") {
    const view = this.newTurn(question);
    const running = new AbortController();
    this.setRunning(running);
    announce("Searching the papers");
    try {
      await this.follow(view, question, running.signal, only);
    } catch (error) {
      if (running.signal.aborted) view.end(el("p", { class: "flag" }, STOPPED));
      else view.end(problemBlock(asProblem(error), () => this.askAgain(view, question, only)));
    } finally {
      if (this.running === running) this.setRunning(null);
    }
  }

  askAgain(view, question, only) {
    view.element.closest(".turn").remove();
    return this.ask(question, only);
  }

  async follow(view, question, signal, only) {
    const scope = this.scope();
    const where = [scope.where, only].filter(Boolean).join(" ");
    const body = { question, ...scope, ...(where ? { where } : {}), ...this.reference(), ...effort() };
    const reply = await sendJson("/api/answers", body, { headers: { Accept: "text/event-stream" }, signal });
    for await (const { name, data } of events(reply)) {
      if (name === "plan") view.plan(data);
      else if (name === "part") view.begin(data);
      else if (name === "contexts") this.read(view, data, question);
      else if (name === "claim") view.add(data);
      else if (name === "retrying") view.readMore(data);
      else if (name === "error") throw new Problem(data.problem ?? data);
      else if (name === "done") return this.done(view, question, data);
    }
    throw new Problem({ title: "The connection ended", detail: CUT_OFF });
  }

  read(view, data, question) {
    const isNews = data.rewritten && !view.contexts.size; // a retry sends it again
    if (isNews) view.element.before(howRead(question, data.question, data.reason));
    view.read(data);
  }

  done(view, question, data) {
    view.finish(data);
    if (byId("runs").querySelector("progress")) view.below.prepend(el("p", { class: "flag" }, BEING_ADDED));
    this.id = data.conversation_id ?? this.id;
    this.finishTurn(view, question, data);
    if (data.offered) view.below.prepend(this.offer(data.offered));
    writeAddress({ conversation: this.id, turn: data.turn });
  }

  /** A filter in the question's words, which is applied only by a click. */
  offer({ question, where }) {
    const again = button(`Ask only papers with ${where}`, () => this.running || this.ask(question, where));
    return el("p", { class: "offer" }, again);
  }

  newTurn(question) {
    const view = new AnswerView({ titleOf: this.titleOf, open: (source, mark) => this.opened(view, source, mark) });
    const turn = el("article", { class: "turn" }, el("h3", { class: "question" }, question), view.element);
    byId("turns").querySelector(".welcome")?.remove();
    byId("turns").append(turn);
    turn.scrollIntoView({ block: "start" });
    return view;
  }

  keptTurn({ turn, question, asked, rewritten, reason, answer, contexts = [], dropped = [] }) {
    const view = this.newTurn(question);
    if (rewritten) view.element.before(howRead(question, asked, reason));
    view.read({ contexts });
    view.finish({ answer, dropped });
    this.finishTurn(view, question, { answer, turn });
  }

  finishTurn(view, question, { answer, turn }) {
    view.number = turn;
    this.turns.set(turn, view);
    view.below.append(this.actions(question, answer, turn));
  }

  opened(view, source, mark) {
    const { claimNumber: claim } = source;
    if (claim) writeAddress({ conversation: this.id, turn: view.number ?? null, claim });
    this.openSource(source, mark);
  }

  actions(question, answer, turn) {
    const quiet = (label, onclick) => button(label, onclick, { class: "quiet" });
    const link = () => copied(linkTo({ conversation: this.id, turn }), "Link");
    return el(
      "div",
      { class: "actions" },
      quiet("Copy text", () => copied(asText(question, answer, this.titleOf), "Answer")),
      quiet("Copy Markdown", () => copied(asMarkdown(question, answer, this.titleOf), "Markdown")),
      answer.claims.length > 0 && referencesMenu(() => [answer], "References of this answer"),
      hashOf({ conversation: this.id }) && quiet("Copy link", link),
    );
  }

  /** The field of a request that names the conversation; there is none before the first answer. */
  reference() {
    return this.id ? { conversation_id: this.id } : {};
  }

  setRunning(controller) {
    this.running = controller;
    byId("stop").hidden = !controller;
    byId("send").hidden = Boolean(controller);
  }
}

/** A kept conversation with its turns. Throws Problem. */
export const getConversation = (id) => getJson(`/api/conversations/${encodeURIComponent(id)}`);

/** Delete a kept conversation. Throws Problem. */
export const deleteConversation = (id) => request(`/api/conversations/${encodeURIComponent(id)}`, { method: "DELETE" });

/** How a follow-up was read: in other words, or about some papers only. */
function howRead(question, asked, reason) {
  const words = asked === question ? [] : ["Asked of the papers as: ", el("q", {}, asked), " "];
  return el("p", { class: "asked" }, words, reason);
}

/** The field of a request that asks for a thorough answer; without it, the server answers as it is set. */
const effort = () => (byId("thorough").checked ? { effort: "thorough" } : {});

function sendOnEnter(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  byId("ask").requestSubmit();
}

/** As high as its text, up to the height the style allows; only beyond that it scrolls. */
function fitHeight({ target }) {
  target.style.height = "auto";
  target.style.height = `${target.scrollHeight + target.offsetHeight - target.clientHeight}px`; // with its borders
  target.style.overflowY = target.scrollHeight > target.clientHeight + 1 ? "auto" : "hidden"; // 1: rounding
}
