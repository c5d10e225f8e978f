import { setTimeout as sleep } from "node:timers/promises";
import { AUTO_WARMUP } from "../contract/configuration.js";
import { sum } from "../contract/numbers.js";
import { hasTrend } from "../judge/steadiness.js";
import { cheapMonotonicMs } from "./measurement/clock.js";
import type { WorkerSample } from "./measurement/recorder.js";

/** How often each worker reports what its warm-up did. */
export const WARMUP_SLICE_MS = 100;

/** What one worker did in a slice of its warm-up. */
export interface WarmupSlice {
  /** Time since the worker began, at the end of the slice. */
  ends_ms: number;
  width_ms: number;
  /** Allowed and limited. */
  answers: number;
  /** Of these answers. */
  latency_sum_us: number;
  /** Answers without service, and requests that ended without an answer. */
  failed: number;
}

/** The warm-up of one worker as it took place. */
export interface WarmupFacts {
  took_s: number;
  /** Requests that were sent. */
  requests: number;
}

/**
 * Decides when a warm-up of `auto` may end (M26): not before its shortest time and its fewest requests, and when the last
 * slices have no trend. Requests count when they end: at least as many were sent.
 */
export class WarmupWatch {
  readonly #model: "closed" | "open";
  /** Slices of each worker that another one has not reported yet. */
  readonly #pending: WarmupSlice[][];
  /** One for each of the last slices; NaN for a slice without answers. */
  readonly #values: number[] = [];
  #requests = 0;
  #isSteady = false;

  constructor(workers: number, model: "closed" | "open") {
    this.#model = model;
    this.#pending = Array.from({ length: workers }, () => []);
  }

  get isSteady(): boolean {
    return this.#isSteady;
  }

  /** @returns whether the warm-up may end now */
  add(worker: number, slice: WarmupSlice): boolean {
    this.#pending[worker]?.push(slice);
    if (this.#pending.some((slices) => slices.length === 0)) return this.#isSteady;
    const all = this.#pending.flatMap((slices) => slices.shift() ?? []);
    this.#requests += sum(all.map(({ answers, failed }) => answers + failed));
    this.#values.push(this.#valueOf(all));
    if (this.#values.length > AUTO_WARMUP.slices) this.#values.shift();
    this.#isSteady =
      Math.min(...all.map(({ ends_ms }) => ends_ms)) >= AUTO_WARMUP.min_s * 1000 &&
      this.#requests >= AUTO_WARMUP.min_requests &&
      this.#values.length === AUTO_WARMUP.slices &&
      !this.#values.some(Number.isNaN) &&
      !hasTrend(this.#values);
    return this.#isSteady;
  }

  /** Closed loop: answers a millisecond, because timers make slices unequal. Open loop: mean latency. */
  #valueOf(slices: readonly WarmupSlice[]): number {
    if (this.#model === "closed") return sum(slices.map(({ answers, width_ms }) => answers / width_ms));
    const latency_us = sum(slices.map(({ latency_sum_us }) => latency_sum_us));
    return latency_us / sum(slices.map(({ answers }) => answers));
  }
}

/**
 * Reports the slices of a warm-up. The windows that follow are sampled by the same code, so V8 compiles it now and not
 * then, on the CPUs that are measured.
 * @returns stops the reports
 */
export function sampleWarmup(
  recorder: { sample(at_ms: number): WorkerSample },
  began_ms: number,
  onSlice: (slice: WarmupSlice) => void,
): () => void {
  let last_ms = began_ms;
  const sampler = setInterval(() => {
    const now_ms = cheapMonotonicMs();
    const { allowed, limited, failed, latencies_us } = recorder.sample(now_ms);
    onSlice({
      ends_ms: now_ms - began_ms,
      width_ms: now_ms - last_ms,
      answers: allowed + limited,
      latency_sum_us: latencies_us.reduce((total, latency_us) => total + latency_us, 0),
      failed,
    });
    last_ms = now_ms;
  }, WARMUP_SLICE_MS);
  return () => clearInterval(sampler);
}

/** Resolves after this time, or as soon as the signal aborts. */
export async function sleepUnlessEnded(ms: number, end: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, end ? { signal: end } : {}).catch(() => undefined);
}
