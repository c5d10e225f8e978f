import { parentPort, workerData } from "node:worker_threads";
import { steadyMs } from "../clock.js";
import { createArrivals } from "./schedule.js";
import { msSince, NEVER, PASSAGE, PUMPED, REACHED, STARVED, type Watch, WOKEN } from "./shared.js";

/** Sleeps until intended sends of a schedule, and wakes the worker that is to send them. */
const port = parentPort;
if (!port) throw new Error("ticker-thread.js runs in a worker thread only");
const shared = new Int32Array(workerData as SharedArrayBuffer);

/**
 * The least time from one look of the worker at its schedule to the next wake. A wake costs some 20 µs of CPU; above 2000
 * sends/s they are shared, and left out where answers make the worker look, for a lateness of up to so much. It is half
 * of what M5 admits, and is part of every latency: nothing is sent early, nothing corrected.
 */
const LEAST_GAP_MS = 0.5;

let woken_ms = steadyMs();

function wake(): void {
  if (Atomics.compareExchange(shared, WOKEN, 0, 1) === 0) port?.postMessage(null);
}

/** How long to sleep until send `index`, which is due, needs a wake; undefined once it needs none. */
function sleepMs(index: number, due_ms: number): number | undefined {
  if (Atomics.load(shared, REACHED) > index) return undefined;
  const now = steadyMs();
  // What was due then is sent, though it was an answer that woke the worker.
  const pumped_ms = now - msSince(Atomics.load(shared, PUMPED), now);
  return Math.max(due_ms, Math.max(woken_ms, pumped_ms) + LEAST_GAP_MS) - now;
}

/** Sleeps until send `index` is due and wakes the worker, unless it was sent without. */
function watch(index: number, due_ms: number): void {
  let wait = sleepMs(index, due_ms);
  while (wait !== undefined && wait > 0) {
    // Unlike an event loop's timer, this one is not rounded to whole milliseconds.
    Atomics.wait(shared, NEVER, 0, wait);
    wait = sleepMs(index, due_ms);
  }
  // Where no connection is free, the answer that frees one wakes the worker.
  if (wait === undefined || Atomics.load(shared, STARVED) === 1) return;
  woken_ms = steadyMs();
  wake();
}

port.on("message", ({ passage, share, opens_ms, closes_ms }: Watch) => {
  const next = createArrivals(share);
  for (let index = 0, due = opens_ms + next(); due < closes_ms; index++, due = opens_ms + next()) {
    // Where this thread fell behind, what it reads of is the next passage already.
    if (Atomics.load(shared, PASSAGE) !== passage) return;
    watch(index, due);
  }
});

port.postMessage("ready");
