import { READ_LINE, type ReadingPhase } from "../../contract/progress.js";
import type { RunningPart } from "../../runtimes/types.js";
import type { CounterWatch } from "./counters.js";
import type { RunStore } from "./store.js";

/**
 * The readings at the drained moments. The generator waits at each for a line that lets it go on. It does not wait for
 * ever: a reading that takes too long, or fails, cannot stop it.
 */
export class DrainedReadings {
  readonly #generator: Pick<RunningPart, "write">;
  readonly #readings: Readonly<Record<ReadingPhase, () => Promise<void>>>;
  /** Rejects when a reading fails, and never resolves. */
  readonly failed: Promise<never>;
  #fail: (error: unknown) => void = () => {};
  /** Readings take place one after the other, so that each line belongs to its moment. */
  #pending = Promise.resolve();

  constructor(
    generator: Pick<RunningPart, "write">,
    store: Pick<RunStore, "readBefore">,
    watch: Pick<CounterWatch, "start" | "stop">,
  ) {
    this.#generator = generator;
    this.#readings = {
      // At every layer all scripts are loaded and no load was sent: from here on the store counts this run's load alone.
      connected: () => store.readBefore(),
      drained: () => watch.start(),
      finished: () => watch.stop(),
    };
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // The run may have failed for another reason already.
    this.failed.catch(() => {});
  }

  take(phase: ReadingPhase): void {
    this.#pending = this.#pending
      .then(() => this.#readings[phase]())
      .catch((error: unknown) => this.#fail(error))
      .then(() => this.#generator.write?.(READ_LINE));
  }

  /** Resolves when all readings so far are taken. @throws the failure of one of them */
  done(): Promise<void> {
    return Promise.race([this.failed, this.#pending]);
  }
}
