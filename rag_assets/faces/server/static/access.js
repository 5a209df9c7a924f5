// Asking for the token of a server that is reached from other machines.

import { byId } from "./dom.js";

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
