// Conversations that were kept: open one again, or delete it.

import { asProblem, getJson } from "./api.js";
import { deleteConversation } from "./conversation.js";
import { button, byId, counted, el } from "./dom.js";
import { problemBlock, toast } from "./notices.js";

/** open(id): shows a conversation; onDeleted(id): after one was deleted. */
export function startHistory({ open, onDeleted }) {
  const dialog = byId("history");
  const chosen = (id) => {
    dialog.close();
    open(id);
  };
  const deleted = async (id, item) => {
    try {
      await deleteConversation(id);
      item.remove();
      onDeleted(id);
    } catch (error) {
      toast(asProblem(error).message);
    }
  };
  byId("open-history").addEventListener("click", async () => {
    dialog.showModal();
    byId("history-list").replaceChildren(...(await items(chosen, deleted)));
  });
}

async function items(chosen, deleted) {
  try {
    const { conversations } = await getJson("/api/conversations");
    if (!conversations.length) return [el("li", { class: "hint" }, "None yet: your questions will be kept here.")];
    return conversations.map((one) => item(one, chosen, deleted));
  } catch (error) {
    return [el("li", {}, problemBlock(asProblem(error)))];
  }
}

function item(one, chosen, deleted) {
  const id = one.conversation_id;
  const title = one.title || "Untitled";
  const facts = `${new Date(one.changed_at).toLocaleString()} · ${counted(one.n_turns, "question")}`;
  const li = el("li", {}, button(title, () => chosen(id), { class: "link" }), el("span", { class: "hint" }, facts));
  li.append(button("×", () => deleted(id, li), { class: "quiet", "aria-label": `Delete ${title}` }));
  return li;
}
