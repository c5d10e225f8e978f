import { compute } from "../lib/computation.js";
import type { Work } from "../middleware/rateLimit.js";

/**
 * Real work for the processor. Each request has a seed of its own, and the answer says seed and result, so that
 * anyone can do the work again and compare.
 * @param complexity rounds of work, see `compute`
 */
export function heavy(complexity: number): Work {
  let seed = 0;
  return () => {
    seed = (seed + 1) >>> 0;
    const { result, steps } = compute(complexity, seed);
    return `{"workload":"heavy","complexity":${complexity},"seed":${seed},"steps":${steps},"result":${result}}`;
  };
}
