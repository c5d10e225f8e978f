import type { Limits } from "../../../contract/configuration.js";
import type { Algorithm } from "../../../contract/target.js";
import {
  admittedInAll,
  admittedRanges,
  type Burst,
  hasAlignedWindows,
  type Range,
} from "../expected.js";
import { DECLARED_ALGORITHMS, type DeclaredAlgorithm } from "./quota.js";

/**
 * The clock of an API may differ from this one, so its windows may begin at any moment. These shares
 * of a window are tried.
 */
const PHASES = [0, 0.25, 0.5, 0.75];

const phasesOf = (algorithm: Algorithm): readonly number[] =>
  hasAlignedWindows(algorithm) ? PHASES : [0];

/**
 * Bursts as times since the window before the first of them began. Times since 1970 have too few
 * decimals for buckets that are refilled in fractions.
 */
function sinceBegin(bursts: readonly Burst[], window_ms: number): Burst[] {
  const [{ from_ms } = { from_ms: 0 }] = bursts;
  return shifted(bursts, -window_ms * (Math.floor(from_ms / window_ms) - 1));
}

const shifted = (bursts: readonly Burst[], by_ms: number): Burst[] =>
  bursts.map(({ from_ms, to_ms, count }) => ({
    from_ms: from_ms + by_ms,
    to_ms: to_ms + by_ms,
    count,
  }));

const hullOf = (ranges: readonly Range[]): Range => ({
  least: Math.min(...ranges.map(({ least }) => least)),
  most: Math.max(...ranges.map(({ most }) => most)),
});

/** What each algorithm that is meant can admit, with windows that begin at several moments. */
function underEach<Value>(
  declared: DeclaredAlgorithm,
  { window_s }: Limits,
  bursts: readonly Burst[],
  rangeOf: (algorithm: Algorithm, bursts: readonly Burst[]) => Value,
): Value[] {
  const algorithms: readonly Algorithm[] = DECLARED_ALGORITHMS[declared];
  const window_ms = 1000 * window_s;
  const since = sinceBegin(bursts, window_ms);
  return algorithms.flatMap((algorithm) =>
    phasesOf(algorithm).map((share) => rangeOf(algorithm, shifted(since, share * window_ms))),
  );
}

/** How many requests of each burst on a fresh key the declared algorithm can admit. */
export function rangesOfBursts(
  declared: DeclaredAlgorithm,
  limits: Limits,
  bursts: readonly Burst[],
): Range[] {
  const tried = underEach(declared, limits, bursts, (algorithm, moved) =>
    admittedRanges(algorithm, limits, moved),
  );
  return bursts.map((_, index) => hullOf(tried.flatMap((ranges) => ranges[index] ?? [])));
}

/** How many requests on a fresh key, sent one by one, the declared algorithm can admit in all. */
export function rangeInAll(
  declared: DeclaredAlgorithm,
  limits: Limits,
  requests: readonly Burst[],
): Range {
  return hullOf(
    underEach(declared, limits, requests, (algorithm, moved) =>
      admittedInAll(algorithm, limits, moved),
    ),
  );
}
