import type { GeneratorRunSpec } from "../../contract/generator-env.js";
import type { Usage } from "../../contract/server-api.js";
import type { TurnLengths, TurnsSpec } from "../../contract/turns.js";
import { SLICE_MS } from "../../judge/merging/slices.js";
import { type WarmupSlice, WarmupWatch } from "../../judge/warmup-watch.js";
import { rounded, sum, totals } from "../../kit/numbers.js";
import { lengthsFor } from "../../traffic/turn-order.js";
import { cpuPerRequest } from "../warmup.js";
import type { MeasuredByTurns, MeasuredTurn } from "../workers/protocol.js";
import type { WorkerPool } from "../workers/worker-pool.js";

/** What the workers of one target did in its turns. */
export type WorkersOfTarget = readonly (MeasuredByTurns & { connections: number })[];

export interface WarmupOfTarget {
  /** Seconds of its slices. */
  took_s: number;
  /** Whether it was steady at the end. It is absent for a warm-up of fixed length. */
  steady?: boolean;
  /** What its workers did. */
  measured: WorkersOfTarget;
}

/**
 * The mean latency of all answers of a target, 0 without any. It includes those after a
 * slice, because an answer that takes longer than a slice never comes in one.
 */
export function meanLatencyMs(workers: WorkersOfTarget): number {
  const answers = sum(workers.map(({ ended }) => ended.answers));
  const latency_us = sum(workers.map(({ ended }) => ended.latency_sum_us));
  return answers > 0 ? latency_us / answers / 1000 : 0;
}

/** The answers of a target in each of its turns, over all workers. */
export function answersByTurn(workers: WorkersOfTarget, { slice_ms }: TurnLengths): number[] {
  const binsPerTurn = slice_ms / SLICE_MS;
  const turns = Math.max(0, ...workers.map((worker) => worker.turns.turns));
  return Array.from({ length: turns }, (_, turn) => {
    const ofTurn = (values: readonly number[]) =>
      sum(values.slice(turn * binsPerTurn, (turn + 1) * binsPerTurn));
    return sum(workers.map(({ slices }) => ofTurn(slices.allowed) + ofTurn(slices.limited)));
  });
}

/** The turns of a target as a slice of its warm-up. */
function sliceOf(workers: WorkersOfTarget, cpu_us_per_request: number | undefined): WarmupSlice {
  const ended = workers.map((worker) => worker.ended);
  const took_ms = workers.map(({ turns }) => turns.counted_ms + turns.drained_ms);
  return {
    took_s: Math.max(...took_ms) / 1000,
    requests: requestsOf(workers),
    ...totals(["answers", "latency_sum_us"], ended),
    cpu_us_per_request,
  };
}

/** The requests of a target in its slices and lead-ins. */
export const requestsOf = (
  workers: readonly Pick<MeasuredTurn, "counts" | "lead_in_requests">[],
): number => sum(workers.map((worker) => worker.counts.sent + worker.lead_in_requests));

/**
 * Warms up all targets of a group by turns. With `auto` each cycle is a slice of the targets whose
 * warm-up is not over, and CPU time is read between cycles, when no target has a turn (M26).
 * @param read reads the consumers of a target; undefined where there are none to read
 */
export async function warmUpByTurns(
  { warmup_s }: GeneratorRunSpec["generator"],
  { shortest, lengths = lengthsFor(0, shortest), seed, curve }: TurnsSpec,
  pool: WorkerPool,
  targets: number,
  read: (target: number) => Promise<readonly Usage[] | undefined>,
): Promise<WarmupOfTarget[]> {
  const keeps = curve ?? false;
  if (warmup_s !== "auto") {
    const measured = await pool.turns({ lengths, seconds: warmup_s, seed, counts: false, keeps });
    return measured.map((workers) => ({ took_s: warmup_s, measured: workers }));
  }

  const warmups = await Promise.all(
    Array.from({ length: targets }, async (_, target) => new TargetWarmup(await read(target))),
  );
  const seconds = lengths.slice_ms / 1000;
  for (let cycle = 0; ; cycle++) {
    const cold = [...warmups.keys()].filter((target) => !warmups[target]?.isOver);
    if (cold.length === 0) break;

    const plan = { lengths, seconds, seed: seed + cycle, counts: false, keeps, targets: cold };
    const measured = await pool.turns(plan);
    const readings = await Promise.all(cold.map(read));
    for (const [index, target] of cold.entries())
      warmups[target]?.add(measured[target] ?? [], readings[index]);
  }
  return warmups.map((warmup) => warmup.result);
}

/** The warm-up of one target by `auto`, cycle by cycle. */
class TargetWarmup {
  readonly #watch = new WarmupWatch("closed");
  readonly #measured: WorkersOfTarget[number][] = [];
  #reading: readonly Usage[] | undefined;
  #took_s = 0;

  constructor(reading: readonly Usage[] | undefined) {
    this.#reading = reading;
  }

  get isOver(): boolean {
    return this.#watch.isOver;
  }

  add(workers: WorkersOfTarget, reading: readonly Usage[] | undefined): void {
    this.#measured.push(...workers);
    this.#took_s += Math.max(...workers.map(({ turns }) => turns.counted_ms)) / 1000;
    this.#watch.add(sliceOf(workers, cpuPerRequest(this.#reading, reading)));
    this.#reading = reading;
  }

  get result(): WarmupOfTarget {
    return {
      took_s: rounded(this.#took_s, 3),
      steady: this.#watch.isSteady,
      measured: this.#measured,
    };
  }
}
