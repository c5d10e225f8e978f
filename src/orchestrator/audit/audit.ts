import { basename, join } from "node:path";
import {
  AUDIT_SCHEMA,
  AUDIT_SCHEMA_VERSION,
  type Audit,
  type AuditedTarget,
  type CheckStatus,
  checkStatuses,
  type Finding,
} from "../../contract/audit.js";
import { BenchError, EXIT, type ExitCode, usageError } from "../../contract/errors.js";
import type { Target } from "../../contract/target.js";
import type { Runtime } from "../../runtimes/types.js";
import { type Availability, otherFramework, resolveTarget } from "../../targets/resolve.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import { createCampaignFolder, writeAtomically } from "../files/results-folder.js";
import { harnessVersion } from "../host/machine.js";
import { type PythonContext, PythonFailed, pythonOutput } from "../host/python.js";
import { versionsOfTargets } from "../host/versions.js";
import { abortable } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { mapCaps } from "../request/caps.js";
import type { Request } from "../request/request.js";
import { targetTexts } from "../request/target-texts.js";
import { moduleFiles } from "../run/module-files.js";
import { endCode, type OpeningContext, withLease, withRuntime } from "../run/opening.js";
import { registerPlugins } from "../run/plugins.js";
import { type EventLog, lineLog } from "../ui/event-log.js";
import { auditTarget } from "./audit-target.js";
import type { Check } from "./check.js";

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
    const end = await withRuntime(request, wanted, opened, true, async ({ runtime, choice, available }) => {
      eventLog.info(choice);
      const found = resolveTargets(asked, available());
      for (const { asked: text, reason } of found.skips) eventLog.info(`skipped ${text}: ${reason}`);
      for (const note of found.notes) eventLog.info(`note: ${note}`);
      const folder = await abortable(signal, createCampaignFolder(root, new Date()));
      await lease.update({ folder });
      const document = await auditTargets(found, { ...context, request, checks, runtime, lease, folder });
      await makeReport(python, folder, eventLog);
      return { exitCode: exitCodeOf(document, checks), folder };
    });
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

/** @returns the document, which is written after each target: an interruption loses only the one under way */
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
          if (finding.status === "broken" || finding.status === "failed")
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
  const ids = new Set(targets.flatMap(({ target: { store, service } }) => [store, service ?? store]));
  return Object.fromEntries(
    [...ids].flatMap((id) => {
      const facts = runtime.program(id);
      return typeof facts === "string" ? [] : [[id, facts.version] as const];
    }),
  );
}

export function countsOf(targets: readonly AuditedTarget[]): Audit["counts"] {
  const findings = targets.flatMap((target) => target.findings);
  return Object.fromEntries(
    checkStatuses.map((status) => [status, findings.filter((each) => each.status === status).length]),
  ) as Record<CheckStatus, number>;
}

/** A target that could not be checked comes first: what it promises is not known. */
export function exitCodeOf(
  { counts, targets }: Pick<Audit, "counts" | "targets">,
  checks: readonly Pick<Check, "id" | "condition">[],
): ExitCode {
  if (counts.failed > 0) return EXIT.configurationFailed;
  const promises = checks.filter(({ condition }) => !condition).map(({ id }) => id);
  const isBroken = targets.some(({ findings }) =>
    findings.some(({ check, status }) => status === "broken" && promises.includes(check)),
  );
  return isBroken ? EXIT.regression : EXIT.done;
}

/** One line: `broken exact-burst: promised …; seen …`. */
export function findingText({ check, status, promised, seen, reason, notes = [] }: Finding): string {
  const parts = [
    ...(promised === undefined ? [] : [`promised ${promised}`]),
    ...(seen === undefined ? [] : [`seen ${seen}`]),
    ...(reason === undefined ? [] : [reason]),
    ...notes,
  ];
  return `${status} ${check}: ${parts.join("; ")}`;
}

/** The page and the tables are made by the report, from audit.json alone. */
async function makeReport(python: PythonContext, folder: string, eventLog: EventLog): Promise<void> {
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
