import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { PASSAGE, PLACES, PUMPED, REACHED, STARVED, type Watch, WOKEN, wrappedUs } from "./shared.js";

/**
 * Wakes the event loop of a worker when a send is due. Timers of an event loop have whole milliseconds and come up to
 * one late; spinning would take a CPU. So a second thread sleeps until the due time, which the system keeps to some
 * 60 µs, and sends a message.
 */
export class Ticker {
  readonly #shared = new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT));
  readonly #thread: Worker;
  /** It listens. On a busy machine a thread may take long to start, and nobody else tells when the first send is due. */
  readonly ready: Promise<void>;

  constructor(wake: () => void) {
    this.#thread = new Worker(new URL("./ticker-thread.js", import.meta.url), {
      workerData: this.#shared.buffer,
    });
    this.ready = once(this.#thread, "message").then(() => {
      this.#thread.on("message", () => {
        // Before the work: what falls due from here on is told by a message of its own.
        Atomics.store(this.#shared, WOKEN, 0);
        wake();
      });
    });
  }

  start(watch: Omit<Watch, "passage">): void {
    const passage = Atomics.add(this.#shared, PASSAGE, 1) + 1;
    this.progress(0, watch.opens_ms);
    this.starved = false;
    this.#thread.postMessage({ ...watch, passage } satisfies Watch);
  }

  /** How many sends of the schedule are done with by `now_ms`: the ticker does not wake for them. */
  progress(reached: number, now_ms: number): void {
    Atomics.store(this.#shared, REACHED, reached);
    Atomics.store(this.#shared, PUMPED, wrappedUs(now_ms));
  }

  /** Whether no connection is free: then the ticker wakes for nothing. */
  set starved(value: boolean) {
    Atomics.store(this.#shared, STARVED, value ? 1 : 0);
  }

  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
