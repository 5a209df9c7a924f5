// Requests to the server: its token, its errors, its page images.

const TOKEN = "rag_assets token";
let asked = null; // the question for the token that is open, shared by all requests that wait for it
let askForToken = async () => null;

/** An error the user can read: RFC 9457 problem details, or what stands for them when no server answers. */
export class Problem extends Error {
  constructor({ title = "Something went wrong", detail = "", status = 0, request_id = "" }) {
    super(detail || title);
    Object.assign(this, { title, detail, status, requestId: request_id });
  }
}

/** Any error as a Problem: what the browser throws when a reply breaks off says nothing that helps. */
export function asProblem(error) {
  if (error instanceof Problem) return error;
  return new Problem({ title: "The reply was interrupted", detail: String(error?.message ?? error) });
}

/** What asks the user for the token: an async function that returns it, or null when the user gives none. */
export function onTokenNeeded(ask) {
  askForToken = ask;
}

/** The reply of the server. Throws Problem for every reply that is no success, and when there is no reply. */
export async function request(path, options = {}) {
  const reply = await sent(path, options);
  if (reply.status === 401 && (await tokenGiven())) return checked(await sent(path, options));
  return checked(reply);
}

export async function getJson(path, options = {}) {
  return (await request(path, options)).json();
}

export async function sendJson(path, body, { method = "POST", ...options } = {}) {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return request(path, { ...options, method, headers, body: JSON.stringify(body) });
}

/** The address of a page image in memory; revoke it when the image is no longer shown. */
export async function pageImage(paperId, page, width, signal) {
  const path = `/api/papers/${encodeURIComponent(paperId)}/pages/${page}.png?width=${width}`;
  return URL.createObjectURL(await (await request(path, { signal })).blob());
}

async function sent(path, options) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { ...options.headers, ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  try {
    return await fetch(path, { ...options, headers });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({
      title: "The server does not answer",
      detail: "Is rag-assets serve still running? Start it again, then try once more.",
    });
  }
}

async function checked(reply) {
  if (reply.ok) return reply;
  const isJson = (reply.headers.get("Content-Type") ?? "").includes("json");
  const body = isJson ? await reply.json().catch(() => ({})) : {};
  throw new Problem({ title: `The server answered ${reply.status}`, ...body, status: reply.status });
}

async function tokenGiven() {
  sessionStorage.removeItem(TOKEN);
  asked ??= askForToken().finally(() => (asked = null));
  const token = await asked;
  if (token) sessionStorage.setItem(TOKEN, token);
  return Boolean(token);
}

// Server-sent events. EventSource cannot be used: it sends neither a body nor a token.
// Format: https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream

/** Yields {name, data} for every event of the reply, data parsed as JSON; comments (heartbeats) are skipped. */
export async function* events(reply) {
  let name = "message";
  let data = [];
  for await (const line of lines(reply.body)) {
    if (line === "") {
      if (data.length) yield { name, data: JSON.parse(data.join("\n")) };
      name = "message";
      data = [];
    } else if (line.startsWith("event:")) name = value(line, "event:");
    else if (line.startsWith("data:")) data.push(value(line, "data:"));
  }
}

const value = (line, field) => line.slice(field.length).replace(/^ /, "");

/** The lines of a stream of bytes, which may part anywhere: in a line, in a character, between CR and LF. */
async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value: text, done } = await reader.read();
      if (done) return;
      const parts = (rest + text).split(/\r\n|\n|\r(?!$)/);
      rest = parts.pop();
      yield* parts;
    }
  } finally {
    await reader.cancel(); // a reader that stops early lets the server stop too
  }
}
