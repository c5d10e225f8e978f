import type { MeasuredResult } from "../contract/result.js";
import type { Evidence } from "./evidence.js";
import { limitOf } from "./limit.js";
import { outcomeOf } from "./outcome.js";
import { judge } from "./rules.js";

export function judged(evidence: Evidence): MeasuredResult {
  const verdict = judge(evidence);
  return { ...evidence, limited_by: limitOf(evidence), verdict, ...outcomeOf(evidence, verdict) };
}
