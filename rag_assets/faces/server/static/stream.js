// Server-sent events read from a reply. EventSource cannot be used: it sends neither a body nor a token.
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
