// Short messages and the question for the token of a server that is reached from other machines.

import { button, byId, el } from "./dom.js";

const KEPT_ANNOUNCEMENTS = 20;

/** Say something to screen readers only; each message is read out after those before it. */
export function announce(text) {
  const announcer = byId("announcer");
  announcer.append(el("p", {}, text));
  while (announcer.children.length > KEPT_ANNOUNCEMENTS) announcer.firstChild.remove();
}

/** Show a message until it is closed or another takes its place; action: {label, run}, a button in it. */
export function toast(text, action = null) {
  const close = () => message.remove();
  const act = () => {
    close();
    action.run();
  };
  const message = el(
    "div",
    { class: "toast" },
    el("span", {}, text),
    action && button(action.label, act),
    button("×", close, { class: "quiet", "aria-label": "Close message" }),
  );
  byId("toasts").replaceChildren(message);
}

/** A problem as a block of text, with a button to try again where that may help. */
export function problemBlock(problem, retry = null) {
  return el(
    "div",
    { class: "problem", role: "alert" },
    el("strong", {}, problem.title ?? "Something went wrong"),
    el("p", {}, problem.detail || problem.message),
    problem.requestId && el("p", { class: "hint" }, `Request ${problem.requestId}`),
    retry && button("Try again", retry),
  );
}

/** Opens the dialog; the token that was given, or null when it was closed without one. */
export function askForToken() {
  const dialog = byId("access");
  const field = byId("token");
  field.value = dialog.returnValue = ""; // Escape leaves the value of the time before
  dialog.showModal();
  return new Promise((resolve) => {
    const closed = () => resolve(dialog.returnValue === "open" ? field.value.trim() : null);
    dialog.addEventListener("close", closed, { once: true });
  });
}
