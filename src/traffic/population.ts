import type { Limits } from "../contract/configuration.js";
import { EXHAUSTED_KEY_PREFIX } from "../contract/server-api.js";
import type { Descriptors } from "./traffic-types.js";

/**
 * A quota that no run can use up, so that the keys alone decide the outcomes, whatever the client's
 * speed.
 */
export const GENEROUS: Limits = { points: 1_000_000_000, window_s: 60, block_s: 0 };

export const user = (rank: number): Descriptors => [`user-${rank}`];
const exhaustedUser = (rank: number): Descriptors => [`${EXHAUSTED_KEY_PREFIX}${rank}`];

/** The skew of YCSB's default request distribution (Cooper et al., SoCC 2010). */
const ZIPF_EXPONENT = 0.99;

/**
 * Zipf's law: the share of rank k is proportional to k^-0.99. @param total what the shares add up
 * to
 */
function zipfShares(size: number, total: number): Float64Array {
  const weights = Float64Array.from({ length: size }, (_, rank) => (rank + 1) ** -ZIPF_EXPONENT);
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => (weight / sum) * total);
}

/** Returns equal shares for all. @param total what the shares add up to */
export const evenShares = (size: number, total: number): Float64Array =>
  new Float64Array(size).fill(total / size);

/**
 * Creates a population of users, some of whom have used up their quota. The requests of each kind
 * follow Zipf's law.
 */
export function zipfPopulation(ordinary: number, exhausted: number, exhaustedShare: number) {
  const requests = [
    ...Array.from({ length: ordinary }, (_, rank) => user(rank)),
    ...Array.from({ length: exhausted }, (_, rank) => exhaustedUser(rank)),
  ];
  const shares = Float64Array.from([
    ...zipfShares(ordinary, 1 - exhaustedShare),
    ...zipfShares(exhausted, exhaustedShare),
  ]);
  return { requests, shares };
}
