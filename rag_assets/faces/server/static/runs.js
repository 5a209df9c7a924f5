// Runs that bring the indexes up to date after papers came or went.

import { getJson } from "./api.js";
import { button, byId, el } from "./dom.js";

const POLL_MS = 1000;
const ENDED = new Set(["succeeded", "failed"]);

/** Show a run until it ended, then call onEnd(isSuccess). label: what it does, as "Adding smith2020.pdf". */
export async function followRun(runId, label, onEnd) {
  const state = el("span", { class: "hint" }, "Waiting to start");
  const bar = el("progress", { max: 1, value: 0, "aria-label": label });
  const block = el("div", { class: "run" }, el("strong", {}, label), bar, state);
  byId("runs").append(block);
  let run = { state: "queued", steps: [] };
  try {
    while (!ENDED.has(run.state)) {
      run = await getJson(`/api/runs/${encodeURIComponent(runId)}`);
      showRun(run, bar, state);
      if (!ENDED.has(run.state)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } catch (error) {
    run = { state: "failed", message: error.message };
  }
  const isSuccess = run.state === "succeeded";
  if (isSuccess) block.remove();
  else block.replaceChildren(el("strong", {}, `${label}: failed`), el("p", {}, run.message ?? ""), closing(block));
  await onEnd(isSuccess);
}

function showRun({ state: name, steps, message }, bar, state) {
  const done = steps.filter((step) => step.state === "succeeded" || step.state === "skipped").length;
  const current = steps.find((step) => step.state === "running" || step.state === "started");
  bar.max = Math.max(1, steps.length);
  bar.value = done;
  if (name === "queued") state.textContent = message || "Waiting to start";
  else state.textContent = current ? `${done + 1} of ${steps.length}: ${current.asset}` : message || "Running";
}

function closing(block) {
  return button("Close", () => block.remove(), { class: "quiet" });
}
