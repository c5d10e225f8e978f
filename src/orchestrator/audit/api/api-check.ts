import type { ApiDefect } from "../../../contract/api-defects.js";
import type { AuditCheck, Finding, Step } from "../../../contract/audit.js";
import type { ApiSettings } from "./api-settings.js";
import type { AuditedApi } from "./audited-api.js";
import type { Quota } from "./quota.js";

/**
 * What a check of an API shows. `not-promised` reports what happens without judging it, and `holds`
 * then says whether it happens as one would wish.
 */
export type ApiOutcome = Pick<
  Finding,
  "promised" | "seen" | "admissions" | "reason" | "notes" | "defect" | "steps" | "holds"
> & { status: "holds" | "broken" | "not-promised" | "skipped" };

/** What a check sends at most, and how long it takes. */
export interface Cost {
  requests: number;
  /** Windows of the quota that it waits for. */
  windows: number;
}

/**
 * A promise of an API's limiter, and how it is tried over HTTP. Each is a file in `checks/` and an
 * entry in its list.
 */
export interface ApiCheck extends AuditCheck {
  /** Why the check does not apply, which is asked before anything is sent. */
  unsupportedReason?(settings: ApiSettings): string | undefined;
  /** @param quota the quota that is declared or found */
  cost(quota: Quota, settings: ApiSettings): Cost;
  /**
   * Whether the check is made before all others, alone, in the order of the list: they rely on what it
   * finds.
   */
  isFirst?: true;
  /** Whether the check is made after all others, alone: it would spoil what they see. */
  isLast?: true;
  /** @throws NotChecked where something failed that the check does not look at */
  run(api: AuditedApi): Promise<ApiOutcome>;
}

export const skippedBecause = (reason: string): ApiOutcome => ({ status: "skipped", reason });

export const holding = (promised: string, seen: string, notes: string[] = []): ApiOutcome => ({
  status: "holds",
  promised,
  seen,
  ...(notes.length > 0 ? { notes } : {}),
});

export const broken = (
  defect: ApiDefect,
  promised: string,
  seen: string,
  steps: Step[],
): ApiOutcome => ({ status: "broken", defect, promised, seen, steps });

/** What is told and not judged. */
export const reported = (holds: boolean, promised: string, seen: string): ApiOutcome => ({
  status: "not-promised",
  holds,
  promised,
  seen,
});
