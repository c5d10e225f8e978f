import { createInterface, type Interface } from "node:readline";
import type { Readable } from "node:stream";
import {
  ALL_STEADY_LINE,
  type AnnouncedPhase,
  type Progress,
  READ_LINE,
  READING_TIMEOUT_S,
} from "../contract/progress.js";
import type { MeasuredResult } from "../contract/result.js";

export type Reading = NonNullable<MeasuredResult["readings"]>["at_start"];

/**
 * Announces the drained moments and waits at each until the input says that the counters are read. Line number n answers
 * announcement number n: a line that comes too late for its own moment never counts for the next one.
 */
export class ReadingWaits {
  readonly #report: (progress: Progress) => void;
  readonly #timeoutS: number;
  readonly #input: Readable;
  readonly #lines: Interface;
  #announced = 0;
  #read = 0;
  #hasEnded = false;
  #areAllSteady = false;
  #check: () => void = () => {};

  constructor(report: (progress: Progress) => void, input: Readable, timeoutS = READING_TIMEOUT_S) {
    this.#report = report;
    this.#timeoutS = timeoutS;
    this.#input = input;
    this.#lines = createInterface({ input });
    this.#lines.on("line", (line) => {
      if (line.trim() === READ_LINE) this.#read++;
      if (line.trim() === ALL_STEADY_LINE) this.#areAllSteady = true;
      this.#check();
    });
    const end = () => {
      this.#hasEnded = true;
      this.#check();
    };
    // Nobody will write any more: the load goes on, and the readings are late.
    input.on("error", end);
    this.#lines.on("error", end);
    this.#lines.on("close", end);
  }

  /** Whether the input said that the warm-up of all generators may end. */
  get areAllSteady(): boolean {
    return this.#areAllSteady;
  }

  async at(phase: AnnouncedPhase): Promise<Reading> {
    const number = ++this.#announced;
    this.#report({ event: "phase", phase });
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#timeoutS * 1000);
      this.#check = () => {
        if (this.#read < number && !this.#hasEnded) return;
        clearTimeout(timer);
        resolve();
      };
      this.#check();
    });
    this.#check = () => {};
    return this.#read >= number ? "in time" : "late";
  }

  /** An input that is still open would keep the process alive. */
  close(): void {
    this.#lines.close();
    this.#input.destroy();
  }
}
