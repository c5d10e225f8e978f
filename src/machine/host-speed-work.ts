import type { HostSpeed } from "../contract/host-speed.js";

/**
 * The fixed work by which the speed of a host is measured. Whoever changes what is computed, or how much of it, raises
 * HOST_SPEED_PROBE_VERSION: times of other work are not comparable.
 */

/** About 20 ms on a CPU of 3 GHz. */
export const INTEGER_ROUNDS = 12_000_000;
/** About 10 to 20 ms, by the memory. */
export const CHASE_STEPS = 120_000;
/** About 5 ms. */
export const ROUND_TRIPS = 250;
/** Each kind of work is done so often, and the median counts: a cold start or an interrupt is in one of them. */
export const PIECES = 5;

/** More than any second cache has, and little enough to keep while a run is measured. */
export const CHASE_BYTES = 32 * 1024 ** 2;
/** A cache line of 64 bytes holds so many pointers; one of them is used. */
const LINE_WORDS = 16;

/** What a thread of the probe gets. */
export interface ThreadTask {
  /** From 0. */
  thread: number;
  threads: number;
  /** The linked cache lines, which all threads read. */
  memory: SharedArrayBuffer;
  /** How often any thread has begun a measurement. */
  arrivals: SharedArrayBuffer;
}

/** What a thread measured. */
export interface ThreadReply extends Omit<HostSpeed, "cpus"> {
  /** The results of the work leave the thread, so that none of it can be optimised away. */
  checksum: number;
}

const SEED = 2_463_534_242;

/** One step of xorshift (G. Marsaglia, "Xorshift RNGs", 2003). @returns a signed 32-bit integer */
function xorshift(state: number): number {
  const first = state ^ (state << 13);
  const second = first ^ (first >>> 17);
  return second ^ (second << 5);
}

/** Each round needs the result of the last one, so no compiler can shorten the loop. @returns its last state */
export function integerLoop(rounds: number): number {
  let state = SEED | 0;
  for (let round = 0; round < rounds; round++) state = xorshift(state);
  return state >>> 0;
}

/**
 * Links all cache lines of the memory to one cycle in a fixed random order (S. Sattolo, 1986), which no prefetcher
 * foresees: the first word of each line is the place of the next one.
 */
export function linkLines(memory: Int32Array): void {
  const lines = memory.length / LINE_WORDS;
  const next = Int32Array.from({ length: lines }, (_, line) => line);
  let state = SEED | 0;
  for (let line = lines - 1; line > 0; line--) {
    state = xorshift(state);
    const other = (state >>> 0) % line;
    const kept = next[line] as number;
    next[line] = next[other] as number;
    next[other] = kept;
  }
  for (let line = 0; line < lines; line++) memory[line * LINE_WORDS] = (next[line] as number) * LINE_WORDS;
}

/** Where the n-th of several threads begins: apart, so that none follows in the cache lines of another. */
export const chaseStart = (memory: Int32Array, thread: number, threads: number): number =>
  Math.floor((thread * memory.length) / LINE_WORDS / threads) * LINE_WORDS;

/** Follows the links; each read waits for the one before it. @returns the place where it ends */
export function chase(memory: Int32Array, start: number, steps: number): number {
  let place = start;
  for (let step = 0; step < steps; step++) place = memory[place] as number;
  return place;
}
