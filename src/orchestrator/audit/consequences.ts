import type { Finding } from "../../contract/audit.js";
import type { Target } from "../../contract/target.js";
import type { Check, CheckOutcome } from "./check.js";
import { exactBurst, exactBurstOnServers } from "./checks/exact-burst.js";

/** What was seen in a check, under which limits, and for how long. */
export type MadeOutcome = Pick<Finding, "limits" | "seconds"> &
  (Omit<CheckOutcome, "status"> & { status: CheckOutcome["status"] | "failed" });

/**
 * The broken exact burst, whose defect breaks other checks as well: one server tells it, and
 * several only where one was not tried.
 */
export function brokenBurst(findings: ReadonlyMap<string, Finding>): Finding | undefined {
  const tried = [exactBurst, exactBurstOnServers]
    .flatMap(({ id }) => findings.get(id) ?? [])
    .find(({ status }) => status !== "skipped" && status !== "failed");
  return tried?.status === "broken" ? tried : undefined;
}

/**
 * What a check's outcome means for this target. Where nobody promises it, it is neither kept nor
 * broken; where only the number of requests admitted at once is wrong and an exact burst is, too,
 * it is no defect of its own.
 * @param burst the broken exact burst, if there is one
 */
export function findingOf(
  check: Check,
  target: Pick<Target, "store">,
  { countsBursts, ...outcome }: MadeOutcome,
  burst: Finding | undefined,
): Finding {
  const finding: Finding = { check: check.id, ...outcome };
  const { status } = outcome;
  if (status !== "holds" && status !== "broken") return finding;

  const reason = check.unpromisedReason?.(target);
  if (reason !== undefined) {
    const { excess: _, ...told } = finding;
    const notes = [reason, ...(finding.notes ?? [])];
    return { ...told, status: "not-promised", holds: status === "holds", notes };
  }

  const follows = status === "broken" && countsBursts && burst && burst.excess === undefined;
  return follows ? { ...finding, consequence_of: burst.check } : finding;
}

/**
 * A broken check after it was made again and judged by what each exact burst admitted: it follows
 * from the burst if it holds then, else it has a defect of its own.
 */
export function judgedAgain(first: Finding, again: MadeOutcome, burst: Finding): Finding {
  const { status, countsBursts: _, excess: __, ...outcome } = again;
  if (status !== "holds" && status !== "broken") return first;
  const quota = (first.limits?.points ?? 0) + (burst.excess ?? 0);
  const notes = [`judged by ${quota}, which each exact burst admits`, ...(outcome.notes ?? [])];
  const finding: Finding = { check: first.check, status: "broken", ...outcome, notes };
  return status === "holds" ? { ...finding, consequence_of: burst.check } : finding;
}

/**
 * `all of these admit quota + 1: window-edge, long-run-rate`; undefined where nothing follows from
 * it.
 */
export function consequencesText(
  findings: readonly Finding[],
  { check, excess }: Finding,
): string | undefined {
  const checks = findings.flatMap((finding) =>
    finding.consequence_of === check ? [finding.check] : [],
  );
  if (checks.length === 0) return undefined;
  const sign = (excess ?? 0) < 0 ? "-" : "+";
  const what =
    excess === undefined
      ? "these follow from it"
      : `all of these admit quota ${sign} ${Math.abs(excess)}`;
  return `${what}: ${checks.join(", ")}`;
}
