import type { AuditedTarget, Finding } from "../../contract/audit.js";
import type { Limits } from "../../contract/configuration.js";
import { BenchError, messageOf } from "../../contract/errors.js";
import { rounded } from "../../contract/numbers.js";
import type { Target } from "../../contract/target.js";
import { unsupportedLimits } from "../../targets/resolve.js";
import { PartFailed, type PartPlace } from "../run/part-supervisor.js";
import { NotChecked } from "./answers.js";
import { AuditedSystem, type SystemSettings } from "./audited-system.js";
import type { Check, LimitsId } from "./check.js";

/** Limits to try, the first that a target can keep: two seconds leave room for a busy machine. */
const LIMITS: Readonly<Record<LimitsId, readonly Limits[]>> = {
  quota: [2, 1].map((window_s) => ({ points: 20, window_s, block_s: 0 })),
  block: [{ points: 5, window_s: 1, block_s: 3 }],
  long: [{ points: 20, window_s: 60, block_s: 0 }],
};

/** The limits under which a target is checked, or why it can keep none of them. */
export function limitsFor(target: Target, id: LimitsId): Limits | string {
  const all = LIMITS[id];
  const reasons = all.map((limits) => unsupportedLimits(target, limits));
  return all.find((_, index) => reasons[index] === undefined) ?? reasons[0] ?? "";
}

/** Checks that share a system: each group of limits has one, and each check that stands alone. */
function groupsOf(checks: readonly Check[]): (readonly [Check, ...Check[]])[] {
  const groups: [Check, ...Check[]][] = [];
  for (const check of checks) {
    const { limits = "quota", alone, servers } = check;
    const group = groups.find(
      ([first]) => !first.alone && (first.limits ?? "quota") === limits && first.servers === servers,
    );
    if (group && !alone) group.push(check);
    else groups.push([check]);
  }
  return groups;
}

const secondsSince = (began: number): number => rounded((performance.now() - began) / 1000, 1);

export interface TargetListener {
  check(check: Check): void;
  finding(finding: Finding): void;
}

/** Makes the checks of one target. A check that fails does not keep the others from being made. */
export async function auditTarget(
  settings: Omit<SystemSettings, "limits" | "servers">,
  place: PartPlace,
  checks: readonly Check[],
  listener: TargetListener,
): Promise<AuditedTarget> {
  const began = performance.now();
  const found = new Map<string, Finding>();
  const add = (check: Check, finding: Omit<Finding, "check">) => {
    const whole = { check: check.id, ...finding };
    found.set(check.id, whole);
    listener.finding(whole);
  };
  const applicable = checks.filter((check) => {
    const reason = check.unsupportedReason?.(settings.target);
    if (reason !== undefined) add(check, { status: "skipped", reason, seconds: 0 });
    return reason === undefined;
  });
  for (const group of groupsOf(applicable)) {
    const limits = limitsFor(settings.target, group[0].limits ?? "quota");
    if (typeof limits === "string") {
      for (const check of group) add(check, { status: "skipped", reason: limits, seconds: 0 });
      continue;
    }
    try {
      await AuditedSystem.use({ ...settings, limits, servers: group[0].servers }, place, async (system) => {
        const make = async (check: Check): Promise<void> => {
          listener.check(check);
          const checkBegan = performance.now();
          const outcome = await outcomeIn(system, check);
          add(check, { ...outcome, limits, seconds: secondsSince(checkBegan) });
        };
        for (const check of group) if (!check.beside) await make(check);
        // All end, so that none is left behind when another fails.
        const side = group.filter(({ beside }) => beside).map(make);
        await Promise.allSettled(side);
        await Promise.all(side);
      });
    } catch (error) {
      // A system that does not start, or whose part ended: the checks that it was for cannot be made.
      if (!(error instanceof PartFailed || error instanceof BenchError)) throw error;
      const reason = (error instanceof PartFailed ? `${error.role} ` : "") + messageOf(error);
      for (const check of group)
        if (!found.has(check.id)) add(check, { status: "failed", reason, limits, seconds: 0 });
    }
  }
  return {
    target: settings.target,
    findings: checks.flatMap(({ id }) => found.get(id) ?? []),
    seconds: secondsSince(began),
  };
}

/** @throws what is no matter of this check alone */
async function outcomeIn(
  system: AuditedSystem,
  check: Check,
): Promise<Pick<Finding, "status" | "reason" | "promised" | "seen" | "admissions" | "notes">> {
  try {
    return await check.run(system);
  } catch (error) {
    if (error instanceof NotChecked) return { status: "failed", reason: messageOf(error) };
    // A limiter that ends its server keeps no promise at all.
    if (check.alone && error instanceof PartFailed && error.role.startsWith("server"))
      return { status: "broken", promised: check.promise, seen: `${error.role} ${messageOf(error)}` };
    throw error;
  }
}
