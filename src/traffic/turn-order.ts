import { canonicalJson, type Load } from "../contract/configuration.js";
import { isClientLayer, type Layer } from "../contract/layers.js";
import { LONG_TURN, MIN_CYCLES, type TurnLengths } from "../contract/turns.js";
import { grouped } from "../kit/grouped.js";
import { rounded } from "../kit/numbers.js";
import { shuffler } from "./shuffle.js";

/** A slice is a whole number of bins. */
const BIN_MS = 100;
/** The shortest turns. */
const SHORTEST: TurnLengths = { lead_in_ms: 5, slice_ms: 100 };
/**
 * The shortest turns where each target has a generator of its own, because another process takes the
 * CPUs, and its caches are cold.
 */
export const SHORTEST_SEPARATE: TurnLengths = { lead_in_ms: 5, slice_ms: 500 };
/** The longest slice. A target that needs a longer one is not measured by turns. */
const LONGEST_SLICE_MS = 5_000;
/** How many mean latencies of the slowest target a lead-in and a slice last at least. */
const LEAD_IN_LATENCIES = 2;
const SLICE_LATENCIES = 20;
/**
 * The longest random part of a lead-in, as a share of it. It is a mean latency, so that answers in
 * step do not march with the edges of slices.
 */
const RANDOM_SHARE = 0.5;

/** Returns the lengths that the slowest target needs (M16), which are at least the shortest ones. */
export function lengthsFor(slowest_ms: number, shortest = SHORTEST): TurnLengths {
  const least_ms = Math.max(shortest.slice_ms, SLICE_LATENCIES * slowest_ms);
  const slice_ms = Math.min(LONGEST_SLICE_MS, least_ms);
  return {
    lead_in_ms: Math.max(shortest.lead_in_ms, pipelineFillsMs(slowest_ms)),
    slice_ms: BIN_MS * Math.ceil(slice_ms / BIN_MS),
  };
}

/** Returns the time since a turn began in which the pipeline of requests fills. */
export const pipelineFillsMs = (slowest_ms: number): number =>
  rounded(LEAD_IN_LATENCIES * slowest_ms, 1);

/** A shorter spread counts as none, because the timers of an event loop have whole milliseconds. */
const SHORTEST_SPREAD_MS = 5;

/**
 * Returns the time over which connections begin a turn, which is a mean latency of the slowest
 * target. If they began at once, they would wait for each other in every cycle of requests, which
 * no continuous load does.
 * @param fills_ms see `pipelineFillsMs`
 */
export function spreadMs(fills_ms: number): number {
  const latency_ms = fills_ms / LEAD_IN_LATENCIES;
  return latency_ms < SHORTEST_SPREAD_MS ? 0 : latency_ms;
}

/** Returns the seconds of slices of each target in a window that is to last so long. */
export const secondsOfSlices = (planned_s: number, { slice_ms }: TurnLengths): number =>
  Math.max(planned_s, (MIN_CYCLES * slice_ms) / 1000);

/** Returns the shortest lengths of a layer, which fast targets have. */
export const shortestLengths = (layer: Layer): TurnLengths =>
  isClientLayer(layer) ? SHORTEST_SEPARATE : SHORTEST;

export interface TurnOrder {
  lengths: TurnLengths;
  /** The seconds of slices of each target. */
  seconds: number;
  seed: number;
}

/** Returns the order of the long turns of a round, one for each target. */
export const longTurns = (seed: number): TurnOrder => ({
  lengths: LONG_TURN,
  seconds: LONG_TURN.slice_ms / 1000,
  // Other orders than those of the warm-up and of the window.
  seed: (seed ^ 0x5f3759df) >>> 0,
});

interface DrawnTurn<Target> extends TurnLengths {
  target: Target;
}

/**
 * Returns the cycles of a window, each with one turn for every target, in an order and with
 * lead-ins that are drawn anew.
 */
export function* drawnCycles<Target>(
  targets: readonly Target[],
  { lengths, seconds, seed }: TurnOrder,
): Generator<DrawnTurn<Target>[]> {
  const cycles = Math.max(1, Math.round((1000 * seconds) / lengths.slice_ms));
  const { shuffle, share } = shuffler(seed);
  for (let cycle = 0; cycle < cycles; cycle++)
    yield shuffle(targets).map((target) => ({
      ...lengths,
      target,
      lead_in_ms: lengths.lead_in_ms * (1 + RANDOM_SHARE * share()),
    }));
}

/**
 * Returns the turns of a load curve in the order in which a round gives them, each once. The loads
 * come in an order that is drawn for the round, and at each load the targets in one that is drawn
 * for the load. So the targets are compared at a load with little time between them.
 */
export function curveOrder<Turn>(
  turns: readonly Turn[],
  loadOf: (turn: Turn) => Load,
  seed: number,
): Turn[] {
  const { shuffle } = shuffler(seed);
  const byLoad = grouped(turns, (turn) => canonicalJson(loadOf(turn)));
  return shuffle(byLoad).flatMap((ofLoad) => shuffle(ofLoad));
}
