import { answered } from "../counts.js";
import type { Rule } from "../evidence.js";

/** M10: the traffic determines the mix of outcomes, not the client's speed. */
export const mixAsPredicted: Rule = {
  id: "M10",
  check({ prediction, consumers, counts }) {
    if (consumers.length === 0) return { severity: "not applicable", text: "the server reports no limits" };
    if (!prediction) {
      const text = answered(counts) === 0 ? "nothing was answered" : "the target has no limiter";
      return { severity: "not applicable", text };
    }
    const { limited_share: expected, seen_share: seen, tolerance, basis } = prediction;
    if (Math.abs(seen - expected) <= tolerance) return undefined;
    const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
    const text = `${percent(seen)} of the answers were limited, ${percent(expected)} predicted (± ${percent(tolerance)})`;
    // With explicit limits the mix depends on the speed, and the prediction is approximate.
    return basis === "traffic"
      ? { severity: "invalid", text }
      : { severity: "suspect", text: `${text} under explicit limits` };
  },
};
