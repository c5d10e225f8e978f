import type { Slices } from "../../contract/request-outcomes.js";
import type { Timeline } from "../../contract/timeline.js";
import { type LoadedWindow, timelineFrom } from "../../judge/merging/merge-timelines.js";
import {
  mergeSlices,
  mergeTimelineSlices,
  type TimelineSlices,
} from "../../judge/merging/slices.js";
import { concatenated } from "./samples.js";

/** Keeps the latencies of all answers of each worker, in the order of their arrival. */
export class AnswerLog {
  readonly #byWorker: Uint32Array[][];

  constructor(workers: number) {
    this.#byWorker = Array.from({ length: workers }, () => []);
  }

  add(worker: number, latencies_us: Uint32Array): void {
    this.#byWorker[worker]?.push(latencies_us);
  }

  of(worker: number): Uint32Array {
    return concatenated(this.#byWorker[worker] ?? []);
  }
}

export type WorkerTimeline = {
  slices: Slices;
  timeline_slices: TimelineSlices;
  latencies_us: Uint32Array;
};

/**
 * The latencies of each slice by worker. The answers of a worker are in the order of its
 * slices.
 */
export function latenciesBySlice(
  workers: readonly Pick<WorkerTimeline, "slices" | "latencies_us">[],
  slices: number,
): Uint32Array[][] {
  const bySlice: Uint32Array[][] = Array.from({ length: slices }, () => []);
  for (const { slices: counted, latencies_us } of workers) {
    let offset = 0;
    for (const [index, parts] of bySlice.entries()) {
      const answers = (counted.allowed[index] ?? 0) + (counted.limited[index] ?? 0);
      parts.push(latencies_us.subarray(offset, offset + answers));
      offset += answers;
    }
  }
  return bySlice;
}

/** The timeline of a run whose generator has these workers alone. */
export function timelineOf(workers: readonly WorkerTimeline[], window: LoadedWindow): Timeline {
  const slices = mergeSlices(workers.map((worker) => worker.slices));
  const timelineSlices = mergeTimelineSlices(workers.map((worker) => worker.timeline_slices));
  const bySlice = latenciesBySlice(workers, slices.allowed.length);
  const counted = bySlice.map((parts) => parts.map((values_us) => ({ values_us })));
  return timelineFrom(slices, timelineSlices, counted, window);
}
