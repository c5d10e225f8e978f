import { once } from "node:events";
import { Worker } from "node:worker_threads";
import {
  REACHED,
  SCHEDULE_RUN,
  SENT_UNTIL,
  SLEEP,
  SLOTS,
  STARVED,
  type TickerSchedule,
  WOKEN,
  wrappedUs,
} from "./ticker-memory.js";

/**
 * Timers of an event loop fire up to a millisecond late, and a busy loop takes a CPU: a second thread sleeps until a
 * send is due, which the system keeps to about 60 µs, and sends a message.
 */
export class Ticker {
  readonly #shared = new Int32Array(new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: Worker;
  /** Resolves when the thread listens. On a busy machine a thread may start too late for the first send. */
  readonly ready: Promise<void>;

  constructor(wake: () => void) {
    this.#thread = new Worker(new URL("./ticker-thread.js", import.meta.url), {
      workerData: this.#shared.buffer,
    });
    this.ready = once(this.#thread, "message").then(() => {
      this.#thread.on("message", () => {
        // Before the work: a send that falls due from here on needs its own message.
        Atomics.store(this.#shared, WOKEN, 0);
        wake();
      });
    });
  }

  start(schedule: Omit<TickerSchedule, "scheduleRun">): void {
    const scheduleRun = Atomics.add(this.#shared, SCHEDULE_RUN, 1) + 1;
    this.progress(0, schedule.opens_ms);
    this.starved = false;
    this.#thread.postMessage({ ...schedule, scheduleRun } satisfies TickerSchedule);
  }

  /** Ends the current schedule early: the thread forgets the rest of it, however long it would sleep. */
  abandon(): void {
    Atomics.add(this.#shared, SCHEDULE_RUN, 1);
    Atomics.notify(this.#shared, SLEEP);
  }

  /** Reports how many sends of the schedule are done by `now_ms`: the ticker does not wake the worker for them. */
  progress(reached: number, now_ms: number): void {
    Atomics.store(this.#shared, REACHED, reached);
    Atomics.store(this.#shared, SENT_UNTIL, wrappedUs(now_ms));
  }

  /** Whether no connection is free: then the ticker does not wake the worker. */
  set starved(value: boolean) {
    Atomics.store(this.#shared, STARVED, value ? 1 : 0);
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
