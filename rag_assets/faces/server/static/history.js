// Conversations that were kept: open one again, or delete it.

import { asProblem, getJson } from "./api.js";
import { deleteConversation, getConversation } from "./conversation.js";
import { conversationAsMarkdown, saved } from "./copy.js";
import { button, byId, counted, el } from "./dom.js";
import { problemBlock, toast } from "./notices.js";
import { referencesMenu } from "./references.js";

/** open(id): shows a conversation; onDeleted(id): after one was deleted; titleOf: paper id -> title. */
export function startHistory({ open, onDeleted, titleOf }) {
  const dialog = byId("history");
  const chosen = (id) => {
    dialog.close();
    open(id);
  };
  const tried = (run) => run().catch((error) => toast(asProblem(error).message));
  const exported = (id) =>
    tried(async () => saved(conversationAsMarkdown(await getConversation(id), titleOf), "conversation.md"));
  const deleted = (id, item) =>
    tried(async () => {
      if (!confirm("Delete this conversation? It cannot be brought back.")) return;
      await deleteConversation(id);
      item.remove();
      onDeleted(id);
    });
  byId("open-history").addEventListener("click", async () => {
    dialog.showModal();
    byId("history-list").replaceChildren(...(await items({ chosen, exported, deleted })));
  });
}

async function items(actions) {
  try {
    const { conversations } = await getJson("/api/conversations");
    if (!conversations.length) return [el("li", { class: "hint" }, "None yet: your questions will be kept here.")];
    return conversations.map((one) => item(one, actions));
  } catch (error) {
    return [el("li", {}, problemBlock(asProblem(error)))];
  }
}

function item(one, { chosen, exported, deleted }) {
  const id = one.conversation_id;
  const title = one.title || "Untitled";
  const facts = `${new Date(one.changed_at).toLocaleString()} · ${counted(one.n_turns, "question")}`;
  const li = el("li", {}, button(title, () => chosen(id), { class: "link" }), el("span", { class: "hint" }, facts));
  li.append(button("Export", () => exported(id), { class: "quiet", "aria-label": `Export ${title}` }));
  const answers = async () => (await getConversation(id)).turns.map(({ answer }) => answer);
  li.append(referencesMenu(answers, `References of ${title}`));
  li.append(button("×", () => deleted(id, li), { class: "quiet", "aria-label": `Delete ${title}` }));
  return li;
}
