import { z } from "zod";
import { rounded } from "./numbers.js";

/** How far the wall clock moved against the monotonic one, and in how much time by the latter. */
export const clockChangeSchema = z.strictObject({
  changed_ms: z.number(),
  over_s: z.number().min(0),
});
export type ClockChange = z.infer<typeof clockChangeSchema>;

/** The time in milliseconds since 1970, by a clock that never goes back. */
export const nowMs = (): number => performance.timeOrigin + performance.now();

interface Clocks {
  wallMs(): number;
  monotonicMs(): number;
}

const systemClocks: Clocks = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/**
 * A process may lose its CPU between two readings, so the closest of so many pairs of readings
 * counts.
 */
const PAIRS = 16;

function wallOffsetMs({ wallMs, monotonicMs }: Clocks): number {
  let closest_ms = Number.POSITIVE_INFINITY;
  let offset_ms = 0;
  for (let pair = 0; pair < PAIRS; pair++) {
    const before_ms = monotonicMs();
    const wall_ms = wallMs();
    const after_ms = monotonicMs();
    if (after_ms - before_ms >= closest_ms) continue;
    closest_ms = after_ms - before_ms;
    offset_ms = wall_ms - (before_ms + after_ms) / 2;
  }

  return offset_ms;
}

/** Compares the wall clock with the monotonic clock from the moment on at which it is made. */
export class ClockComparison {
  readonly #clocks: Clocks;
  readonly #began_ms: number;
  readonly #offset_ms: number;

  constructor(clocks: Clocks = systemClocks) {
    this.#clocks = clocks;
    this.#began_ms = clocks.monotonicMs();
    this.#offset_ms = wallOffsetMs(clocks);
  }

  change(): ClockChange {
    return {
      changed_ms: rounded(wallOffsetMs(this.#clocks) - this.#offset_ms, 1),
      over_s: rounded((this.#clocks.monotonicMs() - this.#began_ms) / 1000, 3),
    };
  }
}

/**
 * A smaller change is no sign that somebody set the clock. Readings have whole milliseconds and may
 * be apart, and where a time service slews the wall clock alone, adjtime(2) moves it by 500 µs a
 * second at most.
 */
const TOLERANCE = { ms: 100, ms_per_s: 0.5 } as const;

/** How far beyond the tolerance a change is; a clock that was set has more than 0. */
const excessMs = ({ changed_ms, over_s }: ClockChange): number =>
  Math.abs(changed_ms) - TOLERANCE.ms - TOLERANCE.ms_per_s * over_s;

export const wasClockSet = (change: ClockChange): boolean => excessMs(change) > 0;

/** The change that exceeds the tolerance most; undefined without any. */
export const largestChange = (changes: readonly ClockChange[]): ClockChange | undefined =>
  changes.toSorted((a, b) => excessMs(b) - excessMs(a))[0];

/** A change as text, e.g. `the system clock was set back by 5 s`. */
export function clockSetText({ changed_ms }: ClockChange): string {
  const seconds = rounded(Math.abs(changed_ms) / 1000, 1);
  return `the system clock was set ${changed_ms < 0 ? "back " : ""}by ${seconds} s`;
}
