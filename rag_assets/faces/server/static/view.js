// What the page shows: which panes are in front, the theme, and links that reproduce the view.

const phone = matchMedia("(max-width: 760px)"); // as in layout.css

export const isPhone = () => phone.matches;

/** Bring a pane to the front: "papers", "conversation" or "reader". */
export function showPane(name) {
  const panes = document.body.dataset;
  panes.pane = name;
  if (name !== "reader") {
    panes.left = name; // beside the reader stays what was there
    enlarge(false);
  }
  markTabs();
}

/** Give the reader the full width of the window, or give the other panes their room back. */
export function enlarge(isOn) {
  document.body.toggleAttribute("data-enlarged", isOn);
  for (const one of document.querySelectorAll(".enlarge")) one.setAttribute("aria-pressed", String(isOn));
}

export const isEnlarged = () => document.body.hasAttribute("data-enlarged");

export function startPanes() {
  for (const tab of tabs()) tab.addEventListener("click", () => showPane(tab.dataset.shows));
  phone.addEventListener("change", markTabs);
}

function markTabs() {
  const { pane, left } = document.body.dataset;
  const shown = phone.matches ? pane : left;
  for (const tab of tabs()) {
    if (tab.dataset.shows === shown) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
}

const tabs = () => document.querySelectorAll(".tabs button");

const KEY = "rag_assets theme";
const NEXT = { auto: "light", light: "dark", dark: "auto" };

/** The button goes through the three in turn; the choice is kept in this browser. */
export function startTheme(button) {
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
    localStorage.setItem(KEY, theme);
  };
  const kept = localStorage.getItem(KEY);
  set(kept in NEXT ? kept : "auto");
  button.addEventListener("click", () => set(NEXT[document.documentElement.dataset.theme]));
}

/** What the address of the page asks for; parts that are missing are null. */
export function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  return { conversation: parts.get("c"), turn: number(parts.get("t")), claim: number(parts.get("claim")) };
}

/** The hash of a view, with its "#"; "" for a new conversation. */
export function hashOf({ conversation, turn = null, claim = null }) {
  if (!conversation) return "";
  const parts = new URLSearchParams({ c: conversation });
  if (turn !== null) parts.set("t", turn);
  if (claim !== null) parts.set("claim", claim);
  return `#${parts}`;
}

/** Put a view into the address bar; no entry is added to the browser's history, and no event is sent. */
export function writeAddress(view) {
  history.replaceState(null, "", `${location.pathname}${hashOf(view)}`);
}

/** The whole link, to be copied. */
export const linkTo = (view) => `${location.origin}${location.pathname}${hashOf(view)}`;

const number = (text) => (/^\d{1,6}$/.test(text ?? "") ? Number(text) : null);
