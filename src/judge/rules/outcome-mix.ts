import { answered } from "../counts.js";
import { invalid, notApplicable, type Rule, suspect } from "../evidence.js";
import { explained, hasEffect } from "../faults.js";

/** M10: the traffic determines the mix of outcomes, not the client's speed. */
export const mixAsPredicted: Rule = {
  id: "M10",
  check({ prediction, consumers, counts, faults, boundary }) {
    if (consumers.length === 0) return notApplicable("the server reports no limits");
    // There the limiter's promise is judged key by key, and what it breaks is the target's outcome (M24).
    if (boundary)
      return notApplicable(
        "quotas bind, so what was admitted is compared key by key with what the limiter promises",
      );
    const answers = answered(counts);
    if (!prediction) {
      const text = answers === 0 ? "nothing was answered" : "the target has no limiter";
      return notApplicable(text);
    }
    const { limited_share: expected, seen_share: seen, tolerance, basis } = prediction;
    const { failed_answers, connection_errors, timed_out } = counts;
    // Each failed request would have been allowed or limited, and nobody knows which: failures are the outcome's (M24).
    const failures = failed_answers + connection_errors + timed_out;
    const least = (seen * answers) / (answers + failures);
    const most = (seen * answers + failures) / (answers + failures);
    if (expected >= least - tolerance && expected <= most + tolerance) return undefined;
    // Quotas may have begun anew, and a limiter may admit all while it cannot reach its store.
    if ((faults ?? []).length > 0 && (failures > 0 || hasEffect({ faults }, ["forgets", "cuts"])))
      return explained("outcome mix");
    const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
    const text = `${percent(seen)} of the answers were limited, ${percent(expected)} predicted (± ${percent(tolerance)})`;
    // With explicit limits the mix depends on the speed, and the prediction is approximate.
    return basis === "traffic" ? invalid(text) : suspect(`${text} under explicit limits`);
  },
};
