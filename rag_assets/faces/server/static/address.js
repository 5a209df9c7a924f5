// Links that reproduce the view: #c=CONVERSATION&t=TURN&claim=N.

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
