// Claims that a reader puts aside while asking, to be taken along with their quotes and the papers they are from.

import { pinsAsMarkdown, saved } from "./copy.js";
import { button, byId } from "./dom.js";

const KEY = "rag_assets pins";
const nameOf = ({ text, citations }) => [text, ...citations.map(({ chunk_id: id, start }) => `${id} ${start}`)].join("\n");
const pinned = new Map(kept()); // by name, in the order they were pinned; in this browser until they are let go

/** The button of a claim. */
export function pinButton(claim) {
  const name = nameOf(claim);
  const pin = button("", () => toggle(name, claim, pin), { class: "quiet pin" });
  show(pin, name);
  return pin;
}

/** The button that saves them. titleOf: paper id -> title. */
export function startPins({ titleOf }) {
  byId("pins").addEventListener("click", () => saved(pinsAsMarkdown([...pinned.values()], titleOf), "pinned claims.md"));
  count();
}

function toggle(name, claim, pin) {
  if (!pinned.delete(name)) pinned.set(name, claim);
  localStorage.setItem(KEY, JSON.stringify([...pinned]));
  show(pin, name);
  count();
}

function show(pin, name) {
  pin.textContent = pinned.has(name) ? "Pinned" : "Pin";
  pin.setAttribute("aria-pressed", String(pinned.has(name)));
}

function count() {
  byId("pins").hidden = !pinned.size;
  byId("pins").textContent = `Save pinned (${pinned.size})`;
}

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return []; // another page of this address wrote it
  }
}
