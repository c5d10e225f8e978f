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
   * Nothing but how many requests at once were admitted decides it: where an exact burst is broken,
   * it is broken by that.
   */
  countsBursts?: true;
};

/**
 * Limits that a check can ask for: a quota alone, one with a block, or one whose window outlasts
 * the check.
 */
export type LimitsId = "quota" | "block" | "long";

/**
 * A promise of limiters, and how it is tried: one file in `checks/`, and one entry in their list.
 */
export interface Check extends AuditCheck {
  /**
   * Why no limiter with its counters in that store promises it. The report says what happened, which
   * counts for nothing.
   */
  unpromisedReason?(target: Pick<Target, "store">): string | undefined;
  /** The limits that it asks for; `quota` where they are absent. */
  limits?: LimitsId;
  /** How its servers differ, in their order: checks with the same list share a system. */
  servers?: readonly ServerDifference[];
  /** Why it does not apply to a target; asked before anything is started. */
  unsupportedReason?(target: Target): string | undefined;
  /** It may leave a system behind that decides no more, so it gets one of its own. */
  alone?: true;
  /** It mostly waits, and keys of its own are all it uses: such checks are made side by side. */
  beside?: true;
  /** @throws NotChecked where something else failed than what it looks at */
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

/** `20`, `20 to 22`. */
export const rangeText = ({ least, most }: { least: number; most: number }): string =>
  least === most ? String(least) : `${least} to ${most}`;

/** Whether as many were admitted as the algorithm can admit, and by how many it differs. */
export function admissionsOutcome(
  { seen, least, most }: AdmissionBounds,
  texts: { promised?: string; ifOff?: string },
  notes: readonly string[] = [],
): CheckOutcome {
  const deviation = deviationText({ seen, least, most });
  const promised = `${rangeText({ least, most })}${texts.promised ?? ""}`;
  const explained = deviation === "" ? "" : `${deviation}${texts.ifOff ?? ""}`;
  const outcome = outcomeOf(deviation === "", promised, `${seen}${explained}`, notes);
  return { ...outcome, admissions: { seen, least, most } };
}

/** `: 2 over`, `: 1 under`; empty within the range. */
function deviationText({ seen, least, most }: AdmissionBounds): string {
  if (seen > most) return `: ${seen - most} over`;
  return seen < least ? `: ${least - seen} under` : "";
}
