import type { MeasuredResult } from "../contract/result.js";

/** A result before its verdict: all evidence that was gathered so far. */
export type Evidence = Omit<MeasuredResult, "verdict">;

/**
 * What a rule says of a run: `undefined`, it holds; a severity, it is broken; `not applicable`, the evidence it
 * needs does not exist for this run.
 */
export type Finding = { severity: "invalid" | "suspect" | "not applicable"; text: string };

/** A rule of docs/methodology.md; it looks at the evidence alone. */
export interface Rule {
  id: string;
  check(evidence: Evidence): Finding | undefined;
}
