import { compute } from "../lib/computation.js";
import type { Work } from "../middleware/rateLimit.js";

/** The least work that an endpoint can do: a constant answer. */
export const light: Work = () => '{"workload":"light"}';

/** Seed and result are in the answer, so that anyone can repeat the work. @param complexity see `compute` */
export function heavy(complexity: number): Work {
  let seed = 0;
  return () => {
    seed = (seed + 1) >>> 0;
    const { result, steps } = compute(complexity, seed);
    return `{"workload":"heavy","complexity":${complexity},"seed":${seed},"steps":${steps},"result":${result}}`;
  };
}
