import {
  type AnnouncedPhase,
  BEFORE_LONG_TURNS,
  BETWEEN_TURNS,
  READ_LINE,
  WAITING,
} from "../../contract/progress.js";
import { within } from "../../kit/deadline.js";
import { failure } from "../../runtimes/deferred.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";
import type { CounterWatch } from "./counter-watch.js";
import { PartFailed } from "./part-supervisor.js";
import type { RunStore } from "./store/run-store.js";

/** The time for a reading, during which no target has load. */
const READ_WITHIN_MS = 10_000;

const lateError = () =>
  new PartFailed("store", `its counters could not be read within ${READ_WITHIN_MS / 1000} s`);

/**
 * Takes the readings at drained moments. Each generator waits at such a moment until the last has
 * come and the counters are read. Then all continue at once, which also starts several together. A
 * reading that is late or fails ends the run, and lets them continue.
 */
export class DrainedReadings {
  readonly #generators: readonly Pick<RunningPart, "write">[];
  readonly #readings: Readonly<Record<AnnouncedPhase, () => Promise<void>>>;
  /** The number of moments that each generator has announced. */
  readonly #announced: number[];
  #phase: AnnouncedPhase | undefined;
  /** The number of moments that all generators have reached. */
  #complete = 0;
  readonly #failure = failure();
  readonly failed = this.#failure.promise;
  readonly #onGoOn: () => void;
  /** The last reading of a queue, in which each line belongs to its moment. */
  #pending = Promise.resolve();

  constructor(
    generators: readonly Pick<RunningPart, "write">[],
    store: Pick<RunStore, "readBefore">,
    watch: Pick<CounterWatch, "start" | "stop"> &
      Partial<Pick<CounterWatch, "readBetweenTurns" | "readBeforeLongTurns">>,
    onGoOn: () => void = () => {},
  ) {
    this.#generators = generators;
    this.#onGoOn = onGoOn;
    this.#announced = generators.map(() => 0);
    this.#readings = {
      // At this moment all scripts are loaded and no load was sent, so that the store counts only
      // this run's load.
      connected: () => within(store.readBefore(), READ_WITHIN_MS, lateError),
      drained: () => watch.start(),
      finished: () => watch.stop(),
      [BETWEEN_TURNS]: async () => watch.readBetweenTurns?.(),
      [BEFORE_LONG_TURNS]: async () => watch.readBeforeLongTurns?.(),
      [WAITING]: async () => {},
    };
  }

  take(generator: number, phase: AnnouncedPhase): boolean {
    this.#announced[generator] = (this.#announced[generator] ?? 0) + 1;
    this.#phase = phase;
    return this.#takeIfComplete();
  }

  /** Takes that a generator has ended, so that the others do not wait for it. */
  leave(generator: number): void {
    this.#announced[generator] = Number.POSITIVE_INFINITY;
    this.#takeIfComplete();
  }

  #takeIfComplete(): boolean {
    const reached = Math.min(...this.#announced);
    const phase = this.#phase;
    if (reached === this.#complete || reached === Number.POSITIVE_INFINITY || !phase) return false;

    this.#complete++;
    this.#pending = this.#pending
      .then(() => this.#readings[phase]())
      .catch(this.#failure.reject)
      .then(() => {
        for (const generator of this.#generators) generator.write?.(READ_LINE);
        this.#onGoOn();
      });
    return true;
  }

  /** Resolves when all readings so far are taken. @throws the failure of one of them */
  done(): Promise<void> {
    return Promise.race([this.failed, this.#pending]);
  }
}
