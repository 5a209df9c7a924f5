// Building elements. Text always becomes text nodes: nothing from a paper, a model or a server is read as HTML.

export const byId = (id) => document.getElementById(id);

/**
 * An element with attributes and children.
 *
 * Attributes: `onclick` and other functions become listeners, true and false switch an attribute on and off, null and
 * undefined are left out, everything else is set as text. Children: elements, strings, arrays of them; empty ones are
 * left out.
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return element;
}

/** A button that does something on this page. */
export const button = (label, onclick, attributes = {}) =>
  el("button", { type: "button", ...attributes, onclick }, label);

/** Words for a number of things: "1 page", "2 pages". */
export const counted = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** The beginning of a text, for messages. */
export const shortened = (text, nChars = 80) => (text.length > nChars ? `${text.slice(0, nChars).trimEnd()}…` : text);

/** Part of a text by code points, as the server counts; JavaScript's own indexes count UTF-16 units. */
export function parted(text, start, end) {
  const points = Array.from(text);
  return [points.slice(0, start).join(""), points.slice(start, end).join(""), points.slice(end).join("")];
}
