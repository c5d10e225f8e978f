import type { Finding } from "../../contract/audit.js";
import type { Target } from "../../contract/target.js";
import type { Check, CheckOutcome } from "./check.js";
import { exactBurst, exactBurstOnServers } from "./checks/exact-burst.js";

/** The outcome of a check, with its limits and its seconds. */
export type MadeOutcome = Pick<Finding, "limits" | "seconds"> &
  (Omit<CheckOutcome, "status"> & { status: CheckOutcome["status"] | "failed" });

/**
 * The broken exact burst, whose defect breaks other checks as well. The burst on one server decides,
 * and the one on several servers only where one server was not tried.
 */
export function brokenBurst(findings: ReadonlyMap<string, Finding>): Finding | undefined {
  const burst = [exactBurst, exactBurstOnServers]
    .flatMap(({ id }) => findings.get(id) ?? [])
    .find(({ status }) => status !== "skipped" && status !== "failed");
  return burst?.status === "broken" ? burst : undefined;
}

/**
 * The finding that follows from the outcome of a check. A promise that nobody makes is neither kept
 * nor broken. A check that only counts requests admitted at once is no defect of its own where an
 * exact burst is broken, too.
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
    const { excess: _, ...withoutExcess } = finding;
    const notes = [reason, ...(finding.notes ?? [])];
    return { ...withoutExcess, status: "not-promised", holds: status === "holds", notes };
  }

  const follows = status === "broken" && countsBursts && burst && burst.excess === undefined;
  return follows ? { ...finding, consequence_of: burst.check } : finding;
}

/**
 * The finding of a broken check that was made again and judged by what each exact burst admitted. If
 * it holds then, it follows from the burst; otherwise it has a defect of its own.
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
 * The consequences of a finding, e.g. `all of these admit quota + 1: window-edge, long-run-rate`;
 * undefined where there are none.
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
  const relation =
    excess === undefined
      ? "these follow from it"
      : `all of these admit quota ${sign} ${Math.abs(excess)}`;
  return `${relation}: ${checks.join(", ")}`;
}
