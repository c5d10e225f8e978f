import { cpuWaitMs, monotonicMs } from "./clock.js";

/** How often a thread looks at its clock, which takes some ten microseconds. */
export const LOOK_EVERY_MS = 20;

/**
 * A process that used more than this share of one CPU between two looks was at work, however far
 * they are apart.
 */
const BUSY_SHARE = 0.5;

const usedCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Looks for times in which the thread that sends stood still, as it does when its process is
 * stopped or its machine is frozen: then two looks at the clock are far apart, and the process used
 * hardly any CPU time in between (M36).
 *
 * Time in which the thread was ready and waited for a CPU is no standstill. Our own roles cause it,
 * too, and by turns it meets all targets of a group alike (M25).
 */
export class StandstillWatch {
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  #looked_ms = monotonicMs();
  #used_ms = usedCpuMs();
  #waited_ms = cpuWaitMs() ?? 0;
  #longest_ms = 0;

  /**
   * Ends the watch.
   * @returns the longest gap in milliseconds between two looks in which the process used less than
   * half a CPU, without the time in which the thread waited for a CPU, where the system reports it
   */
  stop(): number {
    clearInterval(this.#timer);
    this.#look();
    return this.#longest_ms;
  }

  #look(): void {
    const now_ms = monotonicMs();
    const used_ms = usedCpuMs();
    const waited_ms = cpuWaitMs() ?? 0;

    const gap_ms = now_ms - this.#looked_ms;
    const stood_ms = gap_ms - (waited_ms - this.#waited_ms);
    const wasBusy = used_ms - this.#used_ms >= BUSY_SHARE * gap_ms;
    if (!wasBusy) this.#longest_ms = Math.max(this.#longest_ms, stood_ms);

    this.#looked_ms = now_ms;
    this.#used_ms = used_ms;
    this.#waited_ms = waited_ms;
  }
}
