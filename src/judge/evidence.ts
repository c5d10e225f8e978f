import type { MeasuredResult } from "../contract/result.js";

/** A result without its verdict. */
export type Evidence = Omit<MeasuredResult, "verdict">;

/**
 * The result of a broken rule, or of one that is `not applicable` because a run has no evidence for it. A rule that holds
 * has no finding.
 */
export type Finding = { severity: "invalid" | "suspect" | "not applicable"; text: string };

/** A rule of docs/methodology.md; it only uses the evidence. */
export interface Rule {
  id: string;
  check(evidence: Evidence): Finding | undefined;
}

export const invalid = (text: string): Finding => ({ severity: "invalid", text });
export const suspect = (text: string): Finding => ({ severity: "suspect", text });
export const notApplicable = (text: string): Finding => ({ severity: "not applicable", text });
