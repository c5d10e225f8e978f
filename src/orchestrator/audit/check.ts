import type { AdmissionBounds, AuditCheck, Finding } from "../../contract/audit.js";
import type { Target } from "../../contract/target.js";
import type { ServerDifference } from "../run/run-settings.js";
import type { AuditedSystem } from "./audited-system.js";

export type CheckOutcome = Pick<
  Finding,
  "promised" | "seen" | "admissions" | "excess" | "reason" | "notes"
> & {
  status: "holds" | "broken" | "skipped";
  /**
   * Whether only the number of requests admitted at once decides the check. Where an exact burst is
   * broken, the check is broken by the same defect.
   */
  countsBursts?: true;
};

/**
 * The limits that a check can ask for: only a quota, a quota with a block, or a quota whose limiter
 * window outlasts the check.
 */
export type LimitsId = "quota" | "block" | "long";

/** A promise of limiters, and how it is tried. Each has a file in `checks/` and an entry in its list. */
export interface Check extends AuditCheck {
  /**
   * Why no limiter with its counters in that store makes the promise. The report then says what
   * happened, which counts for nothing.
   */
  unpromisedReason?(target: Pick<Target, "store">): string | undefined;
  /** The limits that the check asks for; `quota` where they are absent. */
  limits?: LimitsId;
  /** How many servers the check sends to; one where the number is absent. */
  serverCount?: number;
  /** How its servers differ, in their order. Checks with the same list share a system. */
  servers?: readonly ServerDifference[];
  /** Why the check does not apply to a target, which is asked before anything is started. */
  unsupportedReason?(target: Target): string | undefined;
  /** Whether the check gets its own system, because it may leave one behind that decides no more. */
  needsOwnSystem?: true;
  /** Whether the check can run at the same time as others, because it mostly waits. */
  isConcurrent?: true;
  /** @throws NotChecked where something failed that the check does not look at */
  run(system: AuditedSystem): Promise<CheckOutcome>;
}

export const skipped = (reason: string): CheckOutcome => ({ status: "skipped", reason });

export function outcomeOf(
  holds: boolean,
  promised: string,
  seen: string,
  notes: readonly string[] = [],
): CheckOutcome {
  const outcome: CheckOutcome = { status: holds ? "holds" : "broken", promised, seen };
  return notes.length > 0 ? { ...outcome, notes: [...notes] } : outcome;
}

/** A range as `20` or `20 to 22`. */
export const rangeText = ({ least, most }: { least: number; most: number }): string =>
  least === most ? String(least) : `${least} to ${most}`;

/** The outcome of a check by whether the algorithm can admit as many requests as were admitted. */
export function admissionsOutcome(
  { seen, least, most }: AdmissionBounds,
  texts: { promised?: string; ifOff?: string },
  notes: readonly string[] = [],
): CheckOutcome {
  const deviation = deviationText({ seen, least, most });
  const promised = `${rangeText({ least, most })}${texts.promised ?? ""}`;
  const explanation = deviation === "" ? "" : `${deviation}${texts.ifOff ?? ""}`;
  const outcome = outcomeOf(deviation === "", promised, `${seen}${explanation}`, notes);
  return { ...outcome, admissions: { seen, least, most } };
}

/** A deviation as `: 2 over` or `: 1 under`; empty within the range. */
function deviationText({ seen, least, most }: AdmissionBounds): string {
  if (seen > most) return `: ${seen - most} over`;
  return seen < least ? `: ${least - seen} under` : "";
}
