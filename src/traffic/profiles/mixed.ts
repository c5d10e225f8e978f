import { type Descriptors, FRESH_KEY, type TrafficProfile } from "../types.js";
import { GENEROUS } from "./population.js";

/** A request with so many fixed descriptors, the same in all requests, and as many that are never seen again. */
function mixed(id: string, each: number): TrafficProfile {
  const fixed = Array.from({ length: each - 1 }, (_, index) => `fixed-${index + 1}`);
  const fresh = Array.from({ length: each }, () => FRESH_KEY);
  const descriptors: Descriptors = ["fixed-0", ...fixed, ...fresh];
  return {
    id,
    summary: `${2 * each} descriptors a request, ${each} fixed and ${each} never seen before, all admitted`,
    limits: GENEROUS,
    population: () => ({ requests: [descriptors], shares: Float64Array.of(1) }),
  };
}

export const mixed2 = mixed("mixed2", 1);
export const mixed10 = mixed("mixed10", 5);
