import type { Rule } from "../evidence.js";

/** M10: the outcome mix is the traffic's, not the client's speed's. */
export const mixAsPredicted: Rule = {
  id: "M10",
  check({ prediction, server }) {
    if (!server) return { severity: "not applicable", text: "the server does not tell its limits" };
    if (!prediction) return { severity: "not applicable", text: "the target has no limiter" };
    const { limited_share: expected, seen_share: seen, tolerance, basis } = prediction;
    if (Math.abs(seen - expected) <= tolerance) return undefined;
    const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
    const text = `${percent(seen)} of the answers were limited, ${percent(expected)} predicted (± ${percent(tolerance)})`;
    // Under explicit limits the mix follows the speed by the user's own choice; the model of it is approximate.
    return basis === "traffic"
      ? { severity: "invalid", text }
      : { severity: "suspect", text: `${text} under explicit limits` };
  },
};
