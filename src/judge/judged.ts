import type { MeasuredResult } from "../contract/result.js";
import type { Evidence } from "./evidence.js";
import { limitOf } from "./limit.js";
import { targetOutcome } from "./outcome.js";
import { judgeRun } from "./rules.js";

export function judged(evidence: Evidence): MeasuredResult {
  const verdict = judgeRun(evidence);
  return {
    ...evidence,
    limited_by: limitOf(evidence),
    verdict,
    ...targetOutcome(evidence, verdict),
  };
}
