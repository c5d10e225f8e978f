import { parentPort, workerData } from "node:worker_threads";
import { cheapMonotonicMs } from "../measurement/clock.js";
import { createArrivals } from "./send-schedule.js";
import {
  msSince,
  REACHED,
  SCHEDULE_RUN,
  SENT_UNTIL,
  SLEEP,
  STARVED_SLOT,
  type TickerSchedule,
  WOKEN,
} from "./ticker.js";

/** Sleeps until the intended sends of a schedule, and wakes the worker that sends them. */
const port = parentPort;
if (!port) throw new Error("ticker-thread.js runs in a worker thread only");
const shared = new Int32Array(workerData as SharedArrayBuffer);

/**
 * Where no CPU is free, the shortest time from the worker's last look at its schedule to the next
 * wake. A wake costs about 20 µs of CPU. Above 2000 sends/s several sends share one, and an answer
 * that makes the worker look replaces one. The price is a lateness of up to this time: half of what
 * M5 allows. It is part of every latency; nothing is sent early, nothing is corrected.
 */
const LEAST_GAP_MS = 0.5;

let woken_ms = cheapMonotonicMs();

function wake(): void {
  if (Atomics.compareExchange(shared, WOKEN, 0, 1) === 0) port?.postMessage(null);
}

const isAbandoned = ({ scheduleRun }: TickerSchedule): boolean =>
  Atomics.load(shared, SCHEDULE_RUN) !== scheduleRun;

/**
 * How long to sleep until send `index` needs a wake. It is undefined where it needs none.
 */
function sleepMs(schedule: TickerSchedule, index: number, due_ms: number): number | undefined {
  if (isAbandoned(schedule) || Atomics.load(shared, REACHED) > index) return undefined;
  const now = cheapMonotonicMs();
  // The worker then sent all that was due, even if an answer woke it.
  const sent_until_ms = now - msSince(Atomics.load(shared, SENT_UNTIL), now);
  const leastGapMs = schedule.sharesWakes ? LEAST_GAP_MS : 0;
  return Math.max(due_ms, Math.max(woken_ms, sent_until_ms) + leastGapMs) - now;
}

function waitForSend(schedule: TickerSchedule, index: number, due_ms: number): void {
  let wait = sleepMs(schedule, index, due_ms);
  while (wait !== undefined && wait > 0) {
    // Unlike an event loop's timer, this one is not rounded to whole milliseconds.
    Atomics.wait(shared, SLEEP, 0, wait);
    wait = sleepMs(schedule, index, due_ms);
  }
  // While no connection is free, the answer that frees one wakes the worker.
  if (wait === undefined || Atomics.load(shared, STARVED_SLOT) === 1) return;
  woken_ms = cheapMonotonicMs();
  wake();
}

port.on("message", (schedule: TickerSchedule) => {
  const { share, opens_ms, closes_ms } = schedule;
  const next = createArrivals(share);
  for (let index = 0, due = opens_ms + next(); due < closes_ms; index++, due = opens_ms + next()) {
    // If this thread fell behind, the shared memory belongs to the next run of a schedule already.
    if (isAbandoned(schedule)) return;
    waitForSend(schedule, index, due);
  }
});

port.postMessage("ready");
