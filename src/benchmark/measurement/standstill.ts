import { monotonicMs } from "./clock.js";

/** How often a thread looks at its clock: a look takes a few microseconds. */
export const LOOK_EVERY_MS = 20;

/** A process that used more than this share of one CPU between two looks was at work, however far they are apart. */
const BUSY_SHARE = 0.5;

const usedCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Looks for times in which the thread that sends stood still, as it does when its process is stopped or its machine is
 * frozen: then two looks at the clock are far apart, and the process used hardly any CPU time in between (M36).
 */
export class StandstillWatch {
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  #looked_ms = monotonicMs();
  #used_ms = usedCpuMs();
  #longest_ms = 0;

  /** @returns the longest gap between two looks in which the process used less than half a CPU, milliseconds */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#longest_ms;
  }

  #look(): void {
    const now_ms = monotonicMs();
    const used_ms = usedCpuMs();
    const gap_ms = now_ms - this.#looked_ms;
    if (used_ms - this.#used_ms < BUSY_SHARE * gap_ms) this.#longest_ms = Math.max(this.#longest_ms, gap_ms);
    this.#looked_ms = now_ms;
    this.#used_ms = used_ms;
  }
}
