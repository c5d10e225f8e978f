import { parentPort, workerData } from "node:worker_threads";
import { steadyMs } from "../clock.js";
import { createArrivals } from "./schedule.js";
import { NEVER, REACHED, STARVED, type Watch, WOKEN } from "./shared.js";

/** Sleeps until intended sends of a schedule, and wakes the worker that is to send them. */
const port = parentPort;
if (!port) throw new Error("ticker-thread.js runs in a worker thread only");
const shared = new Int32Array(workerData as SharedArrayBuffer);

/**
 * The least time between two wakes. Each costs some 20 µs of CPU; above 2000 sends/s they are shared, for a lateness of
 * up to so much. It is half of what M5 admits, and is part of every latency: nothing is sent early, nothing corrected.
 */
const LEAST_GAP_MS = 0.5;

function wake(): void {
  if (Atomics.compareExchange(shared, WOKEN, 0, 1) === 0) port?.postMessage(null);
}

port.on("message", ({ share, opens_ms, closes_ms }: Watch) => {
  const next = createArrivals(share);
  let woken_ms = 0;
  for (let index = 0, due = opens_ms + next(); due < closes_ms; index++, due = opens_ms + next()) {
    if (Atomics.load(shared, REACHED) > index) continue;
    const wait = Math.max(due, woken_ms + LEAST_GAP_MS) - steadyMs();
    // Unlike an event loop's timer, this one is not rounded to whole milliseconds.
    if (wait > 0) Atomics.wait(shared, NEVER, 0, wait);
    // Where no connection is free, the answer that frees one wakes the worker.
    if (Atomics.load(shared, REACHED) > index || Atomics.load(shared, STARVED) === 1) continue;
    woken_ms = steadyMs();
    wake();
  }
});
