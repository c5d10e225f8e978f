import { setTimeout as sleep } from "node:timers/promises";
import { AUTO_WARMUP } from "../contract/configuration.js";
import { hasTrend } from "../judge/steadiness.js";
import { sum } from "../kit/numbers.js";
import { cheapMonotonicMs } from "./measurement/clock.js";
import type { WorkerSample } from "./measurement/recorder.js";

/** How often each worker reports what its warm-up did. */
const WARMUP_SLICE_MS = 100;

/** Fewer values cannot show a trend, however clear it is. */
const FEWEST_LATENCIES = 5;

export interface WarmupSlice {
  /** Time since the worker began, at the end of the slice. */
  ends_ms: number;
  width_ms: number;
  answers: number;
  latency_sum_us: number;
  /** Answers without service, and requests that ended without an answer. */
  failed: number;
}

export type WarmupTotals = { took_s: number; requests: number };

/**
 * Decides when a warm-up of `auto` may end (M26): not before its shortest time and its fewest
 * requests, and when the last slices have no trend. Requests count when they end: at least as many
 * were sent.
 *
 * In a closed loop neither mean latency nor answers may have a trend. Where its connections march
 * in step, a slice holds one burst or two, and their number hides a slow ramp. Where the limiter
 * decides in a microsecond, latencies, which are whole microseconds, hide it.
 */
export class WarmupWatch {
  readonly #model: "closed" | "open";
  /** Slices of each worker that another one has not reported yet. */
  readonly #pending: WarmupSlice[][];
  /** Answers a millisecond in each of the last slices, because timers make slices unequal. */
  readonly #rates: number[] = [];
  /** Mean latency in each of the last slices. It is NaN without answers. */
  readonly #latencies: number[] = [];
  readonly #fewestRequests: number;
  readonly #min_s: number;
  #requests = 0;
  #isSteady = false;

  /** @param generators which make the load together; this is the watch of one of them */
  constructor(
    workers: number,
    model: "closed" | "open",
    { generators = 1, min_s = AUTO_WARMUP.min_s }: { generators?: number; min_s?: number } = {},
  ) {
    this.#model = model;
    this.#min_s = min_s;
    this.#fewestRequests = AUTO_WARMUP.min_requests / generators;
    this.#pending = Array.from({ length: workers }, () => []);
  }

  get isSteady(): boolean {
    return this.#isSteady;
  }

  add(worker: number, slice: WarmupSlice): boolean {
    this.#pending[worker]?.push(slice);
    if (this.#pending.some((slices) => slices.length === 0)) return this.#isSteady;

    const interval = this.#pending.flatMap((slices) => slices.shift() ?? []);
    this.#requests += sum(interval.map(({ answers, failed }) => answers + failed));
    this.#rates.push(sum(interval.map(({ answers, width_ms }) => answers / width_ms)));
    const latency_us = sum(interval.map(({ latency_sum_us }) => latency_sum_us));
    this.#latencies.push(latency_us / sum(interval.map(({ answers }) => answers)));
    if (this.#rates.length > AUTO_WARMUP.slices) {
      this.#rates.shift();
      this.#latencies.shift();
    }
    this.#isSteady =
      Math.min(...interval.map(({ ends_ms }) => ends_ms)) >= this.#min_s * 1000 &&
      this.#requests >= this.#fewestRequests &&
      this.#rates.length === AUTO_WARMUP.slices &&
      !this.#mayHaveTrend();

    return this.#isSteady;
  }

  /** Whether the last slices have a trend, or too few answers to tell. */
  #mayHaveTrend(): boolean {
    const isClosed = this.#model === "closed";
    const latencies = this.#latencies.filter((latency) => !Number.isNaN(latency));
    if (latencies.length < (isClosed ? FEWEST_LATENCIES : AUTO_WARMUP.slices)) return true;
    return hasTrend(latencies) || (isClosed && hasTrend(this.#rates));
  }
}

/**
 * Reports slices of a warm-up, so that V8 compiles the code before the window.
 * @returns a function that stops it
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

export async function sleepUnlessEnded(ms: number, end: AbortSignal | undefined): Promise<void> {
  await sleep(ms, undefined, end ? { signal: end } : {}).catch(() => undefined);
}
