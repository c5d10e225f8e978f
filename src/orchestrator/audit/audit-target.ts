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
import { UnfitAnswer } from "../run/store/run-store.js";
import { isDefect } from "./audit-counts.js";
import { AuditedSystem, NotChecked, type SystemSettings } from "./audited-system.js";
import type { Check, LimitsId } from "./check.js";
import { brokenBurst, findingOf, judgedAgain, type MadeOutcome } from "./consequences.js";

/**
 * Limits by their id, of which a target gets the first that it can keep. Windows of two seconds leave
 * room for a busy machine.
 */
const LIMITS: Readonly<Record<LimitsId, readonly Limits[]>> = {
  quota: [2, 1].map((window_s) => ({ points: 20, window_s, block_s: 0 })),
  block: [{ points: 5, window_s: 1, block_s: 3 }],
  long: [{ points: 20, window_s: 60, block_s: 0 }],
};

/** The limits under which a target is checked, or a text that says why it can keep none of them. */
function limitsFor(target: Target, id: LimitsId): Limits | string {
  const reasons: string[] = [];
  for (const limits of LIMITS[id]) {
    const reason = unsupportedLimits(target, limits);
    if (reason === undefined) return limits;
    reasons.push(reason);
  }
  return reasons[0] ?? "";
}

/** The checks in groups that share a system. A check that needs its own system is a group. */
function groupsOf(checks: readonly Check[]): (readonly [Check, ...Check[]])[] {
  const groups: [Check, ...Check[]][] = [];
  for (const check of checks) {
    const { limits = "quota", needsOwnSystem, servers } = check;
    const group = groups.find(
      ([first]) =>
        !first.needsOwnSystem && (first.limits ?? "quota") === limits && first.servers === servers,
    );
    if (group && !needsOwnSystem) group.push(check);
    else groups.push([check]);
  }
  return groups;
}

const serverCountOf = ({ serverCount = 1, servers = [] }: Check): number =>
  Math.max(serverCount, servers.length);

/**
 * After so many attempts that something outside of the target spoils, the checks that are left
 * cannot be made.
 */
const MOST_ATTEMPTS = 3;

const secondsSince = (began: number): number => rounded((performance.now() - began) / 1000, 1);

export interface TargetListener {
  check(check: Check): void;
  finding(finding: Finding): void;
}

/** What the checks of a system ask for. */
type SystemNeeds = "limits" | "serverCount" | "servers";

/** The context of an audit of a target. */
interface TargetAudit {
  settings: Omit<SystemSettings, SystemNeeds>;
  place: PartPlace;
  listener: TargetListener;
  add(check: Check, outcome: MadeOutcome): void;
  /**
   * How long our own control group was throttled so far, in ms; 0 where parts have their own control
   * groups.
   */
  throttledMs(): number;
}

/**
 * Makes the checks of one target. A check that fails does not keep the others from being made.
 * @param readThrottling reads the counters of our own control group
 */
export async function auditTarget(
  settings: Omit<SystemSettings, SystemNeeds | "excess">,
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
  // Checks that are broken besides an exact burst are judged again by what the burst admits.
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
 * Makes checks that share limits and servers. Checks that something outside of the target spoiled
 * are made again (M36).
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

  const serverCount = Math.max(...group.map(serverCountOf));
  const systemSettings = { ...settings, limits, serverCount, servers: group[0].servers };
  const settle: SystemListener["settle"] = (check, outcome) => add(check, { ...outcome, limits });
  let remaining: readonly Check[] = group;
  for (let attempt = 1; remaining.length > 0; attempt++) {
    const { spoiled, cause } = await checksOnSystem(systemSettings, place, remaining, {
      ...listener,
      settle,
      throttledMs,
    });
    remaining = spoiled;
    if (attempt < MOST_ATTEMPTS) continue;

    for (const check of remaining) settle(check, { status: "failed", reason: cause, seconds: 0 });
    break;
  }
}

interface SystemListener extends Pick<TargetListener, "check">, Pick<TargetAudit, "throttledMs"> {
  settle(check: Check, outcome: Omit<MadeOutcome, "limits">): void;
}

/**
 * Makes checks on a system of their own. Once the system clock is set, the sender, the limiter and
 * the store differ about the time, and no check says anything about the limiter (M36). While our own
 * control group was throttled, everything stood still. A promise that holds all the same holds, but
 * one that does not is no fault of the limiter.
 * @returns the checks that were spoiled in this way, and a text on the cause
 */
async function checksOnSystem(
  settings: SystemSettings,
  place: PartPlace,
  group: readonly Check[],
  listener: SystemListener,
): Promise<{ spoiled: readonly Check[]; cause: string }> {
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
      for (const check of group) {
        if (!check.isConcurrent) await make(system, check);
      }

      const concurrentChecks = group.filter(({ isConcurrent }) => isConcurrent);
      const outcomes = concurrentChecks.map((check) => make(system, check));
      // All are waited for, so that none goes on unnoticed when another fails.
      await Promise.allSettled(outcomes);
      await Promise.all(outcomes);
    });
  } catch (error) {
    // Where the system does not start, or a part of it ends, its other checks cannot be made.
    if (!(error instanceof PartFailed || error instanceof BenchError)) throw error;
    const subject = error instanceof PartFailed ? `${error.role} ` : "";
    const reason = `${subject}${messageOf(error)}`;
    for (const check of group) {
      if (!settled.has(check)) settle(check, { status: "failed", reason, seconds: 0 });
    }
  }
  const cause = isClockSet() ? clockSetText(change) : throttledText(longestThrottled_ms);
  return { spoiled: group.filter((check) => !settled.has(check)), cause };
}

/** The outcome of a check. @throws errors that concern the other checks of the system as well */
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
    if (check.needsOwnSystem && error instanceof PartFailed && error.role.startsWith("server"))
      return {
        status: "broken",
        promised: check.promise,
        seen: `${error.role} ${messageOf(error)}`,
      };
    throw error;
  }
}
