import type { Work } from "../middleware/rateLimit.js";

/** Steps of one round, which takes 100 to 200 µs on a current core. */
const STEPS_PER_ROUND = 50_000;

interface Computation {
  /** The result depends on every step, so that a compiler cannot remove one. */
  result: number;
  steps: number;
}

/**
 * Mixes integers by xorshift and multiplication. Each step needs the one before, nothing is
 * allocated, and the work grows linearly with `complexity`.
 * @param complexity rounds, a whole number ≥ 1
 * @param seed 32 bits; the same seed gives the same result
 */
export function compute(complexity: number, seed: number): Computation {
  let state = (seed ^ 0x9e3779b9) | 0;
  let steps = 0;
  for (let round = 0; round < complexity; round++) {
    for (let step = 0; step < STEPS_PER_ROUND; step++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      state = (Math.imul(state, 0x2c1b3c6d) + round) | 0;
      steps++;
    }
  }

  return { result: state >>> 0, steps };
}

/** The least work that an endpoint can do, which is a constant answer. */
export const light: Work = () => '{"workload":"light"}';

/**
 * Does CPU work for a request. Seed and result are in the answer, so that anyone can repeat the
 * work.
 * @param complexity see `compute`
 */
export function heavy(complexity: number): Work {
  let seed = 0;
  return () => {
    seed = (seed + 1) >>> 0;
    const { result, steps } = compute(complexity, seed);
    return `{"workload":"heavy","complexity":${complexity},"seed":${seed},"steps":${steps},"result":${result}}`;
  };
}
