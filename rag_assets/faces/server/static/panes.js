// Which panes are in front where not all three fit: the left one of two on a small screen, one of three on a phone.

const phone = matchMedia("(max-width: 760px)"); // as in layout.css

export const isPhone = () => phone.matches;

/** Bring a pane to the front: "papers", "conversation" or "reader". */
export function showPane(name) {
  const panes = document.body.dataset;
  panes.pane = name;
  if (name !== "reader") panes.left = name; // beside the reader stays what was there
  markTabs();
}

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
