import { AUTO_WARMUP } from "../contract/configuration.js";
import type { Usage } from "../contract/server-api.js";
import type { WarmupSlice, WarmupWatch } from "../judge/warmup-watch.js";
import { rounded, sum } from "../kit/numbers.js";
import { monotonicMs } from "./measurement/clock.js";
import { cpuUs } from "./measurement/server-readings.js";

/** What was sent in a part of a warm-up, until its last request had ended. */
export type WarmupLoad = Omit<WarmupSlice, "cpu_us_per_request">;

export interface WarmupTotals {
  /** Seconds from the first request until the last one had ended. */
  took_s: number;
  requests: number;
}

type CountedCpu = Pick<Usage, "cpu_user_us" | "cpu_system_us" | "requests">;

/**
 * The CPU time per request between two readings of all consumers, NaN without a request. It is
 * undefined where one of the readings is missing.
 */
export function cpuPerRequest(
  before: readonly CountedCpu[] | undefined,
  after: readonly CountedCpu[] | undefined,
): number | undefined {
  if (!before?.length || !after?.length) return undefined;
  const used_us = sum(after.map(cpuUs)) - sum(before.map(cpuUs));
  const requests = (usages: readonly CountedCpu[]) => sum(usages.map((usage) => usage.requests));
  return used_us / (requests(after) - requests(before));
}

/** What takes place between two slices of a warm-up of `auto`, when nothing is in flight. */
export interface BetweenSlices {
  /** Reads the consumers. The reading is undefined where there are none to read. */
  read(): Promise<readonly Usage[] | undefined>;
  /** Whether the warm-up of all generators of the run may end; `isOver` says it of this one. */
  mayEnd(isOver: boolean): Promise<boolean>;
}

/** Makes load in slices, until the watch says that the warm-up is over (M26). */
export async function warmUpUntilSteady(
  load: (seconds: number) => Promise<WarmupLoad>,
  watch: WarmupWatch,
  { read, mayEnd }: BetweenSlices,
): Promise<WarmupTotals> {
  let before = await read();
  const began_ms = monotonicMs();
  let ended_ms = began_ms;
  let requests = 0;
  do {
    const slice = await load(AUTO_WARMUP.slice_s);
    ended_ms = monotonicMs();
    requests += slice.requests;

    const after = await read();
    watch.add({ ...slice, cpu_us_per_request: cpuPerRequest(before, after) });
    before = after;
  } while (!(await mayEnd(watch.isOver)));
  return { took_s: rounded((ended_ms - began_ms) / 1000, 3), requests };
}
