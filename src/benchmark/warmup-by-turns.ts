import { AUTO_WARMUP } from "../contract/configuration.js";
import type { GeneratorRunSpec } from "../contract/generator-env.js";
import type { TurnLengths, TurnsSpec } from "../contract/turns.js";
import { SLICE_MS } from "../judge/merging/slices.js";
import { sum } from "../kit/numbers.js";
import { lengthsFor } from "../traffic/turn-order.js";
import { type WarmupSlice, WarmupWatch } from "./warmup.js";
import type { MeasuredByTurns } from "./workers/protocol.js";
import type { WorkerPool } from "./workers/worker-pool.js";

/** Turns of a target between two looks at whether its warm-up of `auto` is over. */
const TURNS_OF_A_LOOK = 5;

/** What the workers of one target did in its turns. */
export type WorkersOfTarget = readonly (MeasuredByTurns & { connections: number })[];

export interface WarmupByTurns {
  took_s: number;
  /** Whether each target was steady at the end. The list is empty for a warm-up of fixed length. */
  steady: readonly boolean[];
  /** What the workers of each target did. */
  measured: WorkersOfTarget[];
}

/**
 * The mean latency of all answers of a target, 0 without any. It includes those after a
 * slice, because an answer that takes longer than a slice never comes in one.
 */
export function meanLatencyMs(workers: WorkersOfTarget): number {
  const ended = workers.map(({ turns }) => turns.ended);
  const answers = sum(ended.map((worker) => worker.answers));
  const latency_us = sum(ended.map((worker) => worker.latency_sum_us));
  return answers > 0 ? latency_us / answers / 1000 : 0;
}

/**
 * Each turn of a worker as a slice of a warm-up.
 * @param before_ms from the begin of the warm-up to the first turn
 */
export function slicesOfTurns(
  { slices }: WorkersOfTarget[number],
  { slice_ms }: TurnLengths,
  before_ms = 0,
): WarmupSlice[] {
  const binsPerTurn = slice_ms / SLICE_MS;
  const total = (values: readonly number[], turn: number) =>
    sum(values.slice(turn * binsPerTurn, (turn + 1) * binsPerTurn));

  const turns = Math.floor(slices.allowed.length / binsPerTurn);
  return Array.from({ length: turns }, (_, turn) => ({
    ends_ms: before_ms + (turn + 1) * slice_ms,
    width_ms: slice_ms,
    answers: total(slices.allowed, turn) + total(slices.limited, turn),
    latency_sum_us: total(slices.latency_sum_us, turn),
    failed: total(slices.failed, turn),
  }));
}

/** A warm-up of `auto` goes on until all targets that answer are steady (M26). */
export async function warmUpByTurns(
  { warmup_s, workers }: GeneratorRunSpec["generator"],
  { shortest, lengths = lengthsFor(0, shortest), seed }: TurnsSpec,
  pool: WorkerPool,
  targets: number,
): Promise<WarmupByTurns> {
  if (warmup_s !== "auto") {
    const measured = await pool.turns({ lengths, seconds: warmup_s, seed, counts: false });
    return { took_s: warmup_s, steady: [], measured };
  }

  const { min_by_turns_s: min_s, max_s } = AUTO_WARMUP;
  const watches = Array.from(
    { length: targets },
    () => new WarmupWatch(workers, "closed", { min_s }),
  );
  const measuredSoFar: WorkersOfTarget[] = watches.map(() => []);
  const turn_s = lengths.slice_ms / 1000;
  let took_s = 0;
  for (let look = 0; took_s < max_s; look++) {
    const seconds = look === 0 ? Math.max(min_s, turn_s) : TURNS_OF_A_LOOK * turn_s;
    const measured = await pool.turns({ lengths, seconds, seed: seed + look, counts: false });

    const isOver = watches.map((watch, target) => {
      const workersOfTarget = measured[target] ?? [];
      measuredSoFar[target] = [...(measuredSoFar[target] ?? []), ...workersOfTarget];
      for (const [worker, turns] of workersOfTarget.entries())
        for (const slice of slicesOfTurns(turns, lengths, 1000 * took_s)) watch.add(worker, slice);
      return watch.isSteady || meanLatencyMs(workersOfTarget) === 0;
    });
    took_s += seconds;
    if (isOver.every(Boolean)) break;
  }
  return { took_s, steady: watches.map(({ isSteady }) => isSteady), measured: measuredSoFar };
}
