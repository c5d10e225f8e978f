import type { Slices } from "../../contract/request-outcomes.js";
import { sum } from "../../kit/numbers.js";

export const SLICE_MS = 100;
export const SLICES_PER_SECOND = 1000 / SLICE_MS;

export const countedColumns = ["allowed", "limited", "failed", "latency_sum_us"] as const;
/**
 * What a timeline also needs: requests that were given up, before or after they were sent, and
 * intended sends.
 */
export const timelineColumns = ["timed_out", "dropped", "due"] as const;

/**
 * What each slice counted for a timeline. `timed_out` is a part of `failed`, and `due` only counts
 * in an open loop.
 */
export type TimelineSlices = Record<(typeof timelineColumns)[number], number[]>;

/** Adds up the slices of several workers or generators, whose windows opened together. */
export const mergeSlices = (parts: readonly Slices[]): Slices =>
  slicesOf((name) => addedUp(parts.map((part) => part[name])));

export const mergeTimelineSlices = (parts: readonly TimelineSlices[]): TimelineSlices =>
  timelineSlicesOf((name) => addedUp(parts.map((part) => part[name])));

/** Adds up lists of numbers member by member. */
export function addedUp(parts: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...parts.map((part) => part.length));
  return Array.from({ length }, (_, index) => sum(parts.map((part) => part[index] ?? 0)));
}

const columnsOf = <Name extends string>(names: readonly Name[], column: (name: Name) => number[]) =>
  Object.fromEntries(names.map((name) => [name, column(name)])) as Record<Name, number[]>;

export const timelineSlicesOf = (
  column: (name: keyof TimelineSlices) => number[],
): TimelineSlices => columnsOf(timelineColumns, column);

export const slicesOf = (column: (name: (typeof countedColumns)[number]) => number[]): Slices => ({
  width_ms: SLICE_MS,
  ...columnsOf(countedColumns, column),
});
