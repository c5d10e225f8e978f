import type { MeasuredResult } from "../contract/result.js";

export type Evidence = Omit<MeasuredResult, "verdict">;

/** A broken or `not applicable` rule; one that holds has no finding. */
export type Finding = { severity: "invalid" | "suspect" | "not applicable"; text: string };

/** A rule of docs/methodology.md; it only uses the evidence. */
export interface Rule {
  id: string;
  check(evidence: Evidence): Finding | undefined;
}

export const invalid = (text: string): Finding => ({ severity: "invalid", text });
export const suspect = (text: string): Finding => ({ severity: "suspect", text });
export const notApplicable = (text: string): Finding => ({ severity: "not applicable", text });
