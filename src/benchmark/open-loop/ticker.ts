import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ScheduleShare } from "./send-schedule.js";

/** Slots of the memory that a worker and its ticker share. */
export const REACHED = 0;
export const STARVED_SLOT = 1;
export const WOKEN = 2;
/**
 * This slot is never written. The ticker sleeps by waiting for its change, or for a notification.
 */
export const SLEEP = 3;
/** When the worker last sent all that was due, in microseconds modulo 2^32. */
export const SENT_UNTIL = 4;
/**
 * This slot has the number of the current run of a schedule. The ticker abandons the run before it.
 */
export const SCHEDULE_RUN = 5;
export const SLOTS = 6;

const wrappedUs = (ms: number): number => Math.round(ms * 1000) | 0;

/** The milliseconds since `wrapped_us`, modulo 71 minutes. */
export const msSince = (wrapped_us: number, now_ms: number): number =>
  ((wrappedUs(now_ms) - wrapped_us) >>> 0) / 1000;

/** The sends for which the ticker wakes its worker. Times are monotonic milliseconds. */
export interface TickerSchedule {
  scheduleRun: number;
  share: ScheduleShare;
  opens_ms: number;
  closes_ms: number;
  /** Whether sends that fall due within half a millisecond share a wake. */
  sharesWakes: boolean;
}

/**
 * Wakes a worker when its sends are due. Timers of an event loop fire up to a millisecond late, and
 * a busy loop takes a CPU. So a second thread sleeps until a send is due, which the system keeps to
 * about 60 µs, and sends a message.
 */
export class Ticker {
  readonly #shared = new Int32Array(new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: Worker;
  /**
   * Resolves when the thread listens. On a busy machine a thread may start too late for the first
   * send.
   */
  readonly ready: Promise<void>;

  constructor(wake: () => void) {
    this.#thread = new Worker(new URL("./ticker-thread.js", import.meta.url), {
      workerData: this.#shared.buffer,
    });
    this.ready = once(this.#thread, "message").then(() => {
      this.#thread.on("message", () => {
        // This comes before the work, because a send that falls due from here on needs a message of
        // its own.
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

  /**
   * Reports how many sends of the schedule are done by `now_ms`, for which the ticker does not wake
   * the worker.
   */
  progress(reached: number, now_ms: number): void {
    Atomics.store(this.#shared, REACHED, reached);
    Atomics.store(this.#shared, SENT_UNTIL, wrappedUs(now_ms));
  }

  /** Whether no connection is free, so that the ticker does not wake the worker. */
  set starved(value: boolean) {
    Atomics.store(this.#shared, STARVED_SLOT, value ? 1 : 0);
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
