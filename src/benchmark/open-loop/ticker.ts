import { Worker } from "node:worker_threads";
import { PLACES, REACHED, STARVED, type Watch, WOKEN } from "./shared.js";

/**
 * Wakes the event loop of a worker when a send is due. Timers of an event loop have whole milliseconds and come up to
 * one late; spinning would take a CPU. So a second thread sleeps until the due time, which the system keeps to some
 * 60 µs, and sends a message.
 */
export class Ticker {
  readonly #shared = new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: Worker;

  constructor(wake: () => void) {
    this.#thread = new Worker(new URL("./ticker-thread.js", import.meta.url), {
      workerData: this.#shared.buffer,
    });
    this.#thread.on("message", () => {
      // Before the work: what falls due from here on is told by a message of its own.
      Atomics.store(this.#shared, WOKEN, 0);
      wake();
    });
  }

  start(watch: Watch): void {
    this.progress(0);
    this.starved = false;
    this.#thread.postMessage(watch);
  }

  /** How many sends of the schedule are done with: the ticker does not wake for them. */
  progress(reached: number): void {
    Atomics.store(this.#shared, REACHED, reached);
  }

  /** Whether no connection is free: then the ticker wakes for nothing. */
  set starved(value: boolean) {
    Atomics.store(this.#shared, STARVED, value ? 1 : 0);
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
