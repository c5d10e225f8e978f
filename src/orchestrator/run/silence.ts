import { PartFailed, type RunningRole } from "./part-supervisor.js";

/**
 * A generator reports each second, and takes less to connect, drain and write: silent for so long, it hangs. Generators
 * wait longer for each other, so that the one that hangs is named.
 */
export const SILENCE_S = 60;
/** Until its first word it may wait for CPU time while many others start. Those that are ready wait a little longer. */
export const START_S = 110;
/** After a stop of this process its timers come before the lines that it missed. */
const GRACE_MS = 1000;

/** Notices a generator that hangs, e.g. because its machine is frozen. It would never end. */
export class SilenceWatch {
  readonly #roles: readonly Pick<RunningRole, "id">[];
  readonly #quiet_s: number;
  readonly #timers = new Map<number, NodeJS.Timeout>();
  #isOver = false;
  /** Rejects with PartFailed when one hangs, and never resolves. */
  readonly failed: Promise<never>;
  #fail: (error: PartFailed) => void = () => {};

  /** @param quiet_s the longest that a generator works without a word besides: its warm-up */
  constructor(roles: readonly Pick<RunningRole, "id">[], quiet_s: number) {
    this.#roles = roles;
    this.#quiet_s = quiet_s;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // The run may have failed for another reason already.
    this.failed.catch(() => {});
    for (const index of roles.keys()) this.#expect(index, START_S);
  }

  /** All go on from a moment at which they waited. */
  expectAll(): void {
    for (const index of this.#roles.keys()) this.heard(index);
  }

  /** It said something, and goes on. @param index of the generator */
  heard(index: number): void {
    this.#expect(index, SILENCE_S + this.#quiet_s);
  }

  #expect(index: number, within_s: number): void {
    this.expectNothing(index);
    if (this.#isOver) return;
    const { id } = this.#roles[index] ?? {};
    const text = `said nothing for ${within_s} s: it hangs, or its machine does`;
    const fail = () => this.#fail(new PartFailed(id ?? "generator", text));
    const look = () => void this.#timers.set(index, setTimeout(fail, GRACE_MS).unref());
    this.#timers.set(index, setTimeout(look, 1000 * within_s).unref());
  }

  /** It waits until it may go on, or has ended. */
  expectNothing(index: number): void {
    clearTimeout(this.#timers.get(index));
    this.#timers.delete(index);
  }

  stop(): void {
    this.#isOver = true;
    for (const index of this.#roles.keys()) this.expectNothing(index);
  }
}
