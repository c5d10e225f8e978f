import type { AuditCheck, Finding } from "../../contract/audit.js";
import type { AuditedSystem } from "./audited-system.js";

export type CheckOutcome = Pick<Finding, "promised" | "seen" | "reason" | "notes"> & {
  status: "holds" | "broken" | "skipped";
};

/** Limits that a check can ask for: a quota alone, or one with a block. */
export type LimitsId = "quota" | "block";

/** A promise of limiters, and how it is tried: one file in `checks/`, and one entry in their list. */
export interface Check extends AuditCheck {
  /** Absent: `quota`. */
  limits?: LimitsId;
  /** It may leave a system behind that decides no more, so it gets one of its own. */
  alone?: true;
  /** It mostly waits, and keys of its own are all it uses: such checks are made side by side. */
  beside?: true;
  /** @throws NotChecked where something else failed than what it looks at */
  run(system: AuditedSystem): Promise<CheckOutcome>;
}

export const skipped = (reason: string): CheckOutcome => ({ status: "skipped", reason });

export const outcomeOf = (
  holds: boolean,
  promised: string,
  seen: string,
  notes: readonly string[] = [],
): CheckOutcome => ({
  status: holds ? "holds" : "broken",
  promised,
  seen,
  ...(notes.length > 0 ? { notes: [...notes] } : {}),
});

/** `20`, `20 to 22`. */
export const rangeText = ({ least, most }: { least: number; most: number }): string =>
  least === most ? String(least) : `${least} to ${most}`;
