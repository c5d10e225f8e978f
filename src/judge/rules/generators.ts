import { sum } from "../../contract/numbers.js";
import type { GeneratorPart } from "../../contract/result.js";
import { answered } from "../counts.js";
import { type Rule, suspect } from "../evidence.js";
import { decodeHistogram } from "../histogram.js";
import { SLICE_MS } from "../merging/slices.js";

/** In a closed loop a slow generator answers less than this share of what the others do, for each of its connections. */
const LEAST_SHARE = 0.75;
/** In an open loop the p99 of its send lateness is above this time, and above the others' by this factor. */
const LATENESS = { ms: 1, factor: 2 } as const;
/** Fewer requests tell nothing about the speed of a generator. */
const FEWEST_REQUESTS = 100;

/** The middle value, or the lower one of two. */
const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;

interface Speed {
  id: string;
  value: number;
}

/** Those that stand out from the median of the others, each in words. */
const outliers = (
  speeds: readonly Speed[],
  standsOut: (value: number, others: number) => boolean,
  textOf: (speed: Speed, others: number) => string,
): string[] =>
  speeds.flatMap((speed) => {
    const others = medianOf(speeds.flatMap(({ id, value }) => (id === speed.id ? [] : [value])));
    return standsOut(speed.value, others) ? [textOf(speed, others)] : [];
  });

const perConnection = ({ id, counts, window_s, workers }: GeneratorPart): Speed => ({
  id,
  value: answered(counts) / window_s / sum(workers.map(({ connections }) => connections)),
});

const slowClosedLoops = (generators: readonly GeneratorPart[]): string[] =>
  outliers(
    generators.map(perConnection),
    (rate, others) => rate < LEAST_SHARE * others,
    ({ id, value }, others) =>
      `${id} is slower than the others: ${value.toFixed(0)} answers/s for each of its connections, theirs ${others.toFixed(0)}`,
  );

const lateOpenLoops = (generators: readonly GeneratorPart[]): string[] =>
  outliers(
    generators.flatMap(({ id, schedule }) =>
      schedule && schedule.lateness.count > 0
        ? [{ id, value: decodeHistogram(schedule.lateness).getValueAtPercentile(99) / 1000 }]
        : [],
    ),
    (late_ms, others) => late_ms > Math.max(LATENESS.ms, LATENESS.factor * others),
    ({ id, value }, others) =>
      `${id} sends later than the others: its p99 of send lateness is ${value.toFixed(2)} ms, theirs ${others.toFixed(2)} ms`,
  );

/** Windows that did not open within the same slice. */
const lateWindows = (generators: readonly GeneratorPart[]): string[] =>
  generators.flatMap(({ id, opened_after_ms = 0 }) =>
    opened_after_ms > SLICE_MS
      ? [`the window of ${id} opened ${(opened_after_ms / 1000).toFixed(2)} s after the first`]
      : [],
  );

/** M6: none of several generators lags behind, since its delay is in the latencies of all. */
export const generatorsAlike: Rule = {
  id: "M6",
  check({ generators, request, faults }) {
    if (generators.length < 2) return undefined;
    // A fault hits the connections of some generators more than those of others.
    const isComparable = !faults && generators.every(({ counts }) => counts.sent >= FEWEST_REQUESTS);
    const slow = request.load.model === "closed" ? slowClosedLoops : lateOpenLoops;
    const texts = [...lateWindows(generators), ...(isComparable ? slow(generators) : [])];
    return texts.length > 0 ? suspect(texts.join("; ")) : undefined;
  },
};
