import type { AuditedTarget, Finding } from "../../contract/audit.js";
import type { Limits } from "../../contract/configuration.js";
import type { Target } from "../../contract/target.js";
import { mostStandstillMs, throttledText } from "../../judge/rules/outside.js";
import { BenchError, messageOf } from "../../kit/errors.js";
import { rounded } from "../../kit/numbers.js";
import {
  ClockComparison,
  clockSetText,
  largestChange,
  wasClockSet,
} from "../../kit/system-clock.js";
import { readOwnThrottling } from "../../machine/own-limits.js";
import { unsupportedLimits } from "../../targets/resolve.js";
import { PartFailed, type PartPlace } from "../run/part-supervisor.js";
import { UnfitAnswer } from "../run/run-store.js";
import { isDefect } from "./audit-counts.js";
import { AuditedSystem, NotChecked, type SystemSettings } from "./audited-system.js";
import type { Check, LimitsId } from "./check.js";
import { brokenBurst, findingOf, judgedAgain, type MadeOutcome } from "./consequences.js";

/** Limits to try, the first that a target can keep: two seconds leave room for a busy machine. */
const LIMITS: Readonly<Record<LimitsId, readonly Limits[]>> = {
  quota: [2, 1].map((window_s) => ({ points: 20, window_s, block_s: 0 })),
  block: [{ points: 5, window_s: 1, block_s: 3 }],
  long: [{ points: 20, window_s: 60, block_s: 0 }],
};

/** The limits under which a target is checked, or why it can keep none of them. */
function limitsFor(target: Target, id: LimitsId): Limits | string {
  const reasons: string[] = [];
  for (const limits of LIMITS[id]) {
    const reason = unsupportedLimits(target, limits);
    if (reason === undefined) return limits;
    reasons.push(reason);
  }
  return reasons[0] ?? "";
}

/** Checks that share a system: each group of limits has one, and each check that stands alone. */
function groupsOf(checks: readonly Check[]): (readonly [Check, ...Check[]])[] {
  const groups: [Check, ...Check[]][] = [];
  for (const check of checks) {
    const { limits = "quota", alone, servers } = check;
    const group = groups.find(
      ([first]) =>
        !first.alone && (first.limits ?? "quota") === limits && first.servers === servers,
    );
    if (group && !alone) group.push(check);
    else groups.push([check]);
  }
  return groups;
}

/**
 * Where something outside spoils so many attempts, one after another, the checks that are left
 * cannot be made.
 */
const MOST_ATTEMPTS = 3;

const secondsSince = (began: number): number => rounded((performance.now() - began) / 1000, 1);

export interface TargetListener {
  check(check: Check): void;
  finding(finding: Finding): void;
}

/** What an audit of a target needs, and where its outcomes go. */
interface TargetAudit {
  settings: Omit<SystemSettings, "limits" | "servers">;
  place: PartPlace;
  listener: TargetListener;
  add(check: Check, outcome: MadeOutcome): void;
  /**
   * How long our own control group was throttled so far; 0 where the parts are in groups of their
   * own.
   */
  throttledMs(): number;
}

/**
 * Makes the checks of one target. A check that fails does not keep the others from being made.
 * @param readThrottling of our own control group
 */
export async function auditTarget(
  settings: Omit<SystemSettings, "limits" | "servers" | "excess">,
  place: PartPlace,
  checks: readonly Check[],
  listener: TargetListener,
  readThrottling = readOwnThrottling,
): Promise<AuditedTarget> {
  const sharesGroup = place.runtime.id === "local";
  const throttledMs = () => (sharesGroup ? (readThrottling()?.throttled_us ?? 0) / 1000 : 0);
  const began = performance.now();
  const { target } = settings;
  const findings = new Map<string, Finding>();
  // What is broken besides an exact burst is first judged by what the burst admits.
  const suspected = new Map<Check, Finding>();
  const add = (check: Check, outcome: MadeOutcome) => {
    const burst = brokenBurst(findings);
    const finding = findingOf(check, target, outcome, burst);
    findings.set(check.id, finding);
    if (burst?.excess !== undefined && isDefect(finding)) suspected.set(check, finding);
    else listener.finding(finding);
  };

  const applicable = checks.filter((check) => {
    const reason = check.unsupportedReason?.(target);
    if (reason !== undefined) add(check, { status: "skipped", reason, seconds: 0 });
    return reason === undefined;
  });
  for (const group of groupsOf(applicable)) {
    await makeGroup(group, { settings, place, listener, add, throttledMs });
  }

  const burst = brokenBurst(findings);
  if (burst?.excess !== undefined) {
    const addAgain = (check: Check, outcome: MadeOutcome) => {
      const finding = judgedAgain(suspected.get(check) as Finding, outcome, burst);
      findings.set(check.id, finding);
      listener.finding(finding);
    };
    const excessive = { ...settings, excess: burst.excess };
    for (const group of groupsOf([...suspected.keys()])) {
      await makeGroup(group, { settings: excessive, place, listener, add: addAgain, throttledMs });
    }
  }

  return {
    target,
    findings: checks.flatMap(({ id }) => findings.get(id) ?? []),
    seconds: secondsSince(began),
  };
}

/**
 * Makes checks that share limits and servers, and again those that something outside the target
 * spoiled (M36).
 */
async function makeGroup(
  group: readonly [Check, ...Check[]],
  { settings, place, listener, add, throttledMs }: TargetAudit,
): Promise<void> {
  const limits = limitsFor(settings.target, group[0].limits ?? "quota");
  if (typeof limits === "string") {
    for (const check of group) add(check, { status: "skipped", reason: limits, seconds: 0 });
    return;
  }

  const systemSettings = { ...settings, limits, servers: group[0].servers };
  const settle: SystemListener["settle"] = (check, outcome) => add(check, { ...outcome, limits });
  let left: readonly Check[] = group;
  for (let attempt = 1; left.length > 0; attempt++) {
    const onSystem = await checksOnSystem(systemSettings, place, left, {
      ...listener,
      settle,
      throttledMs,
    });
    left = onSystem.left;
    if (attempt < MOST_ATTEMPTS) continue;

    for (const check of left)
      settle(check, { status: "failed", reason: onSystem.cause, seconds: 0 });
    break;
  }
}

interface SystemListener extends Pick<TargetListener, "check">, Pick<TargetAudit, "throttledMs"> {
  settle(check: Check, outcome: Omit<MadeOutcome, "limits">): void;
}

/**
 * Makes checks on a system of their own. From the moment on at which the system clock is set, what
 * the sender, the limiter and the store take for the time differs, and no check says anything about
 * the limiter (M36). While our own control group was throttled, everything stood still: what holds
 * all the same holds, and what does not is no fault of the limiter.
 * @returns the checks that are left because of that, and what it was
 */
async function checksOnSystem(
  settings: SystemSettings,
  place: PartPlace,
  group: readonly Check[],
  listener: SystemListener,
): Promise<{ left: readonly Check[]; cause: string }> {
  const clocks = new ClockComparison();
  let change = clocks.change();
  const isClockSet = (): boolean => {
    // A clock that is set right again does not make up for the checks that it spoiled.
    change = largestChange([change, clocks.change()]) ?? change;
    return wasClockSet(change);
  };

  let longestThrottled_ms = 0;
  const settled = new Set<Check>();
  const settle: SystemListener["settle"] = (check, outcome) => {
    if (isClockSet()) return;
    settled.add(check);
    listener.settle(check, outcome);
  };

  const make = async (system: AuditedSystem, check: Check): Promise<void> => {
    if (isClockSet()) return;
    listener.check(check);
    const began = performance.now();
    const throttledBefore_ms = listener.throttledMs();
    const outcome = await outcomeIn(system, check);
    const throttled_ms = listener.throttledMs() - throttledBefore_ms;
    const check_s = (performance.now() - began) / 1000;
    if (outcome.status === "broken" && throttled_ms > mostStandstillMs(check_s))
      longestThrottled_ms = Math.max(longestThrottled_ms, throttled_ms);
    else settle(check, { ...outcome, seconds: secondsSince(began) });
  };

  try {
    await AuditedSystem.use(settings, place, async (system) => {
      for (const check of group) if (!check.beside) await make(system, check);

      const waiting = group.filter(({ beside }) => beside).map((check) => make(system, check));
      // All end, so that none is left behind when another fails.
      await Promise.allSettled(waiting);
      await Promise.all(waiting);
    });
  } catch (error) {
    // A system that does not start, or whose part ended: the checks that it was for cannot be made.
    if (!(error instanceof PartFailed || error instanceof BenchError)) throw error;
    const reason = (error instanceof PartFailed ? `${error.role} ` : "") + messageOf(error);
    for (const check of group)
      if (!settled.has(check)) settle(check, { status: "failed", reason, seconds: 0 });
  }
  const cause = isClockSet() ? clockSetText(change) : throttledText(longestThrottled_ms);
  return { left: group.filter((check) => !settled.has(check)), cause };
}

/** @throws what is no matter of this check alone */
async function outcomeIn(
  system: AuditedSystem,
  check: Check,
): Promise<Omit<MadeOutcome, "limits" | "seconds">> {
  try {
    return await check.run(system);
  } catch (error) {
    if (error instanceof NotChecked || error instanceof UnfitAnswer)
      return { status: "failed", reason: messageOf(error) };
    // A limiter that ends its server keeps no promise at all.
    if (check.alone && error instanceof PartFailed && error.role.startsWith("server"))
      return {
        status: "broken",
        promised: check.promise,
        seen: `${error.role} ${messageOf(error)}`,
      };
    throw error;
  }
}
