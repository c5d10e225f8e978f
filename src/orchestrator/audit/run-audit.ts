import { basename, join } from "node:path";
import {
  AUDIT_SCHEMA,
  AUDIT_SCHEMA_VERSION,
  type Audit,
  type AuditedTarget,
  type CheckStatus,
  type Finding,
} from "../../contract/audit.js";
import type { Limits } from "../../contract/configuration.js";
import type { Target } from "../../contract/target.js";
import { mostStandstillMs, throttledText } from "../../judge/rules/outside.js";
import { BenchError, EXIT, type ExitCode, messageOf, usageError } from "../../kit/errors.js";
import { rounded } from "../../kit/numbers.js";
import {
  ClockComparison,
  clockSetText,
  largestChange,
  wasClockSet,
} from "../../kit/system-clock.js";
import { readOwnThrottling } from "../../machine/own-limits.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import {
  type Availability,
  otherFramework,
  resolveTarget,
  unsupportedLimits,
} from "../../targets/resolve.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import { endCode, type OpeningContext, withLease, withRuntime } from "../campaign/open-runtime.js";
import { registerPlugins } from "../campaign/used-plugins.js";
import { createCampaignFolder, writeAtomically } from "../files/results-folder.js";
import { harnessVersion } from "../host/machine.js";
import { type PythonContext, PythonFailed, pythonOutput } from "../host/python.js";
import { versionsOfTargets } from "../host/versions.js";
import { abortable } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { moduleFiles } from "../plan/module-files.js";
import { mapCaps } from "../request/caps.js";
import { type Request, targetTexts } from "../request/request.js";
import { PartFailed, type PartPlace } from "../run/part-supervisor.js";
import { UnfitAnswer } from "../run/run-store.js";
import { type EventLog, lineLog } from "../ui/event-log.js";
import { counted, escapeControls, textTable } from "../ui/text.js";
import { AuditedSystem, NotChecked, type SystemSettings } from "./audited-system.js";
import type { Check, LimitsId } from "./check.js";
import {
  brokenBurst,
  consequencesText,
  findingOf,
  judgedAgain,
  type MadeOutcome,
} from "./consequences.js";

/** Folder of audits in the results root: they are no campaigns. */
const AUDITS = "audits";
export const AUDIT_FILE = "audit.json";
export const AUDIT_MARKDOWN = "audit.md";

/**
 * Makes checks on every requested target, one after the other, and writes what they show.
 * @throws usageError where no target is left; environmentError where nothing can be started
 */
export async function runAudit(
  request: Request,
  checks: readonly Check[],
  context: OpeningContext,
): Promise<Required<CampaignEnd>> {
  const { eventLog, signal } = context;
  const plugins = await registerPlugins(request);
  const asked = targetTexts(request);
  // Report errors of the request before anything is built or started.
  resolveTargets(asked, () => true);
  const root = join(request.output, AUDITS);
  return withLease(request, { ...context, plugins }, { root }, async (opened) => {
    const { lease, python } = opened;
    const wanted = versionsOfTargets(measurable(asked));
    // A store that was killed is started again at its address.
    const end = await withRuntime(
      request,
      wanted,
      opened,
      true,
      async ({ runtime, choice, available }) => {
        eventLog.info(choice);
        const found = resolveTargets(asked, available());
        for (const { asked: text, reason } of found.skips)
          eventLog.info(`skipped ${text}: ${reason}`);
        for (const note of found.notes) eventLog.info(`note: ${note}`);
        const folder = await abortable(signal, createCampaignFolder(root, new Date()));
        await lease.update({ folder });
        const document = await auditTargets(found, {
          ...context,
          request,
          checks,
          runtime,
          lease,
          folder,
        });
        await makeReport(python, folder, eventLog);
        return { exitCode: exitCodeOf(document), folder };
      },
    );
    return { ...end, exitCode: endCode(end.exitCode, opened) };
  });
}

/** Targets of these texts that can be measured anywhere. */
const measurable = (texts: readonly string[]): Target[] =>
  texts.flatMap((text) => {
    const resolution = resolveTarget(text);
    return "target" in resolution ? [resolution.target] : [];
  });

type Skip = Audit["skips"][number];

/** Why a target has nothing to check; undefined where it has. */
function uselessReason(target: Target): string | undefined {
  const { limiter, program } = target;
  if (limiter === "none") return "it limits nothing, so it promises nothing";
  if (program !== undefined)
    return `+${program} makes the calls without a server: check the target without it`;
  return otherFramework(target);
}

/** What of the requested targets can be checked here. @throws usageError where nothing is left */
function resolveTargets(
  asked: readonly string[],
  available: Availability,
): { targets: Target[]; skips: Skip[]; notes: string[] } {
  const targets = new Map<string, Target>();
  const skips: Skip[] = [];
  const notes: string[] = [];
  for (const text of asked) {
    const resolution = resolveTarget(text, available);
    const reason = "skip" in resolution ? resolution.skip : uselessReason(resolution.target);
    if (reason !== undefined) skips.push({ asked: text, reason });
    else if ("target" in resolution) {
      if (resolution.note) notes.push(resolution.note);
      targets.set(resolution.target.text, resolution.target);
    }
  }
  if (targets.size > 0) return { targets: [...targets.values()], skips, notes };
  throw usageError(`nothing is left to audit: ${skips.map(({ reason }) => reason).join("; ")}`);
}

interface AuditContext extends OpeningContext {
  request: Request;
  checks: readonly Check[];
  runtime: Runtime;
  lease: Lease;
  folder: string;
}

/**
 * @returns the document, which is written after each target: an interruption loses only the one
 *   under way
 */
async function auditTargets(
  { targets, skips }: { targets: readonly Target[]; skips: readonly Skip[] },
  context: AuditContext,
): Promise<Audit> {
  const { eventLog, folder } = context;
  const startedAt = new Date().toISOString();
  const audited: AuditedTarget[] = [];
  for (const [index, target] of targets.entries()) {
    eventLog.info(`[${index + 1}/${targets.length}] ${target.label}`);
    audited.push(await auditOf(target, context));
    const text = JSON.stringify(documentOf(audited, skips, startedAt, context), null, 1);
    await writeAtomically(join(folder, AUDIT_FILE), `${text}\n`);
  }
  return documentOf(audited, skips, startedAt, context);
}

function auditOf(
  target: Target,
  { request, checks, runtime, lease, eventLog, signal, folder }: AuditContext,
): Promise<AuditedTarget> {
  const { caps, serviceEnv } = request;
  const append = lineLog(join(folder, "audit.log"), (text) => eventLog.warn(text));
  const stamped = (text: string) => append(`${new Date().toISOString()} ${target.label}: ${text}`);
  return abortable(
    signal,
    auditTarget(
      {
        target,
        caps: runtime.capsApplied ? mapCaps(caps, (each) => runtime.appliedCaps(each)) : {},
        modules: moduleFiles(request),
        serviceEnv: target.service ? serviceEnv[target.service] : undefined,
      },
      { runtime, lease, log: (role, line) => stamped(`${role}: ${line}`) },
      checks,
      {
        check: ({ title }) => eventLog.detail(`  ${title}`),
        finding: (finding) => {
          // What ended because everything is being stopped is no finding.
          if (signal.aborted) return;
          stamped(findingText(finding));
          if (isDefect(finding) || finding.status === "failed")
            eventLog.info(`  ${findingText(finding)}`);
          else eventLog.detail(`  ${findingText(finding)}`);
        },
      },
    ),
  );
}

function documentOf(
  targets: readonly AuditedTarget[],
  skips: readonly Skip[],
  startedAt: string,
  { request, checks, packageFolder, runtime, folder }: AuditContext,
): Audit {
  return {
    schema: AUDIT_SCHEMA,
    schema_version: AUDIT_SCHEMA_VERSION,
    audit: basename(folder),
    started_at: startedAt,
    finished_at: new Date().toISOString(),
    command: request.command,
    runtime: runtime.id,
    harness: harnessVersion(packageFolder),
    node: process.versions.node,
    programs: programsOf(targets, runtime),
    checks: checks.map(({ id, title, promise, matters }) => ({ id, title, promise, matters })),
    targets: [...targets],
    skips: [...skips],
    counts: countsOf(targets),
  };
}

function programsOf(targets: readonly AuditedTarget[], runtime: Runtime): Record<string, string> {
  const ids = new Set(
    targets.flatMap(({ target: { store, service } }) => [store, service ?? store]),
  );
  return Object.fromEntries(
    [...ids].flatMap((id) => {
      const facts = runtime.program(id);
      return typeof facts === "string" ? [] : [[id, facts.version] as const];
    }),
  );
}

/** A broken promise that follows from no other. */
const isDefect = ({ status, consequence_of }: Finding): boolean =>
  status === "broken" && consequence_of === undefined;

export function countsOf(targets: readonly Pick<AuditedTarget, "findings">[]): Audit["counts"] {
  const findings = targets.flatMap((target) => target.findings);
  const count = (status: CheckStatus) =>
    findings.filter((finding) => finding.status === status).length;
  const defects = findings.filter(isDefect).length;
  return {
    holds: count("holds"),
    broken: defects,
    consequences: count("broken") - defects,
    not_promised: count("not-promised"),
    skipped: count("skipped"),
    failed: count("failed"),
  };
}

/** A target that could not be checked comes first: what it promises is not known. */
export function exitCodeOf({ counts }: Pick<Audit, "counts">): ExitCode {
  if (counts.failed > 0) return EXIT.configurationFailed;
  return counts.broken > 0 ? EXIT.regression : EXIT.done;
}

/** One line: `broken exact-burst: promised …; seen …`. */
function findingText(finding: Finding): string {
  const { check, status, promised, seen, reason, consequence_of, notes = [] } = finding;
  const parts = [
    ...(consequence_of === undefined ? [] : [`follows from ${consequence_of}`]),
    ...(promised === undefined ? [] : [`promised ${promised}`]),
    ...(seen === undefined ? [] : [`seen ${seen}`]),
    ...(reason === undefined ? [] : [reason]),
    ...notes,
  ];
  return `${status} ${check}: ${parts.join("; ")}`;
}

/** The page and the tables are made by the report, from audit.json alone. */
async function makeReport(
  python: PythonContext,
  folder: string,
  eventLog: EventLog,
): Promise<void> {
  try {
    const printed = await pythonOutput(python, "audit", [folder]);
    eventLog.info(`report: ${printed.trim()}`);
  } catch (error) {
    if (!(error instanceof PythonFailed)) throw error;
    throw new BenchError(
      `the page could not be made: ${error.message}; ${join(folder, AUDIT_FILE)} is whole`,
      EXIT.configurationFailed,
    );
  }
}

/** Limits to try, the first that a target can keep: two seconds leave room for a busy machine. */
const LIMITS: Readonly<Record<LimitsId, readonly Limits[]>> = {
  quota: [2, 1].map((window_s) => ({ points: 20, window_s, block_s: 0 })),
  block: [{ points: 5, window_s: 1, block_s: 3 }],
  long: [{ points: 20, window_s: 60, block_s: 0 }],
};

/** The limits under which a target is checked, or why it can keep none of them. */
function limitsFor(target: Target, id: LimitsId): Limits | string {
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

type TargetListener = { check(check: Check): void; finding(finding: Finding): void };

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
  const throttledMs = () =>
    place.runtime.id === "local" ? (readThrottling()?.throttled_us ?? 0) / 1000 : 0;
  const began = performance.now();
  const { target } = settings;
  const found = new Map<string, Finding>();
  // What is broken besides an exact burst is first judged by what the burst admits.
  const suspected = new Map<Check, Finding>();
  const add = (check: Check, outcome: MadeOutcome) => {
    const burst = brokenBurst(found);
    const finding = findingOf(check, target, outcome, burst);
    found.set(check.id, finding);
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

  const burst = brokenBurst(found);
  if (burst?.excess !== undefined) {
    const addAgain = (check: Check, outcome: MadeOutcome) => {
      const finding = judgedAgain(suspected.get(check) as Finding, outcome, burst);
      found.set(check.id, finding);
      listener.finding(finding);
    };
    const excessive = { ...settings, excess: burst.excess };
    for (const group of groupsOf([...suspected.keys()])) {
      await makeGroup(group, { settings: excessive, place, listener, add: addAgain, throttledMs });
    }
  }
  return {
    target,
    findings: checks.flatMap(({ id }) => found.get(id) ?? []),
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
    // One that is set right again does not make up for the checks that it spoiled.
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
    const window_s = (performance.now() - began) / 1000;
    if (outcome.status === "broken" && throttled_ms > mostStandstillMs(window_s))
      longestThrottled_ms = Math.max(longestThrottled_ms, throttled_ms);
    else settle(check, { ...outcome, seconds: secondsSince(began) });
  };
  try {
    await AuditedSystem.use(settings, place, async (system) => {
      for (const check of group) if (!check.beside) await make(system, check);
      // All end, so that none is left behind when another fails.
      const side = group.filter(({ beside }) => beside).map((check) => make(system, check));
      await Promise.allSettled(side);
      await Promise.all(side);
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

/** What was promised and seen, and what follows from it. */
function detailLines({ target, findings }: AuditedTarget, finding: Finding): string[] {
  const { check, status, promised, seen, reason } = finding;
  const consequences = consequencesText(findings, finding);
  return [
    `${target.label}: ${check} ${status === "broken" ? "BROKEN" : status}`,
    ...(promised === undefined ? [] : [`  promised: ${promised}`]),
    ...(seen === undefined ? [] : [`  seen:     ${seen}`]),
    ...(consequences === undefined ? [] : [`  ${consequences}`]),
    ...(reason === undefined ? [] : [`  ${reason}`]),
  ];
}

/** A line for each target, and below them what was promised and seen where a promise is broken. */
export function auditLines({ targets, skips, counts }: Audit): string[] {
  const rows = targets.map(({ target, findings }) => {
    const of = (status: CheckStatus) => findings.filter((finding) => finding.status === status);
    const defects = findings.filter(isDefect).map(({ check }) => check);
    const failed = of("failed").map(({ check }) => check);
    return [
      target.label,
      `${of("holds").length} kept`,
      defects.length > 0 ? `broken: ${defects.join(", ")}` : "none broken",
      `${of("not-promised").length} not promised`,
      `${of("skipped").length} skipped`,
      failed.length > 0 ? `failed: ${failed.join(", ")}` : "",
    ];
  });
  const details = targets.flatMap((audited) =>
    audited.findings
      .filter((finding) => isDefect(finding) || finding.status === "failed")
      .flatMap((finding) => detailLines(audited, finding)),
  );
  const told = targets.flatMap(({ target, findings }) =>
    findings
      .filter(({ status, holds }) => status === "not-promised" && !holds)
      .map(({ check, seen }) => `${target.label}: ${check} is not promised; seen: ${seen}`),
  );
  const sections = [details, told].filter((lines) => lines.length > 0);
  const summary = [
    `${counted(counts.holds, "promise")} kept`,
    `${counts.broken} broken${counts.consequences > 0 ? ` (${counted(counts.consequences, "further check")} by the same)` : ""}`,
    `${counts.not_promised} not promised`,
    `${counts.skipped} skipped`,
    `${counts.failed} not checked`,
  ];
  return [
    ...textTable(rows),
    ...sections.flatMap((lines) => ["", ...lines]),
    ...skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    "",
    summary.join(", "),
  ].map(escapeControls);
}
