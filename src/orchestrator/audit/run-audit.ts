import { basename, join } from "node:path";
import {
  AUDIT_SCHEMA,
  AUDIT_SCHEMA_VERSION,
  type Audit,
  type AuditedTarget,
} from "../../contract/audit.js";
import type { Target } from "../../contract/target.js";
import { forEachAtOnce } from "../../kit/at-once.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import { resolveTarget } from "../../targets/resolve.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import { endCode, type OpeningContext, withLease, withRuntime } from "../campaign/open-runtime.js";
import { registerPlugins } from "../campaign/used-plugins.js";
import { createCampaignFolder, writeAtomically } from "../files/results-folder.js";
import { harnessVersion } from "../host/machine.js";
import { versionsOfTargets } from "../host/versions.js";
import { abortable } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { moduleFiles } from "../plan/module-files.js";
import { mapCaps } from "../request/caps.js";
import type { Request } from "../request/request.js";
import { targetTexts } from "../request/target-texts.js";
import { lineLog } from "../ui/event-log.js";
import { auditExitCode, countsOf, isDefect } from "./audit-counts.js";
import { AUDIT_FILE, AUDITS, makeReport } from "./audit-files.js";
import { AUDITS_AT_ONCE, type AuditPlan, auditPlan, auditPlanLines } from "./audit-plan.js";
import { auditTarget, type TargetListener } from "./audit-target.js";
import { findingText } from "./audit-text.js";
import type { Check } from "./check.js";

/**
 * Makes checks on every requested target, and writes what they show.
 * @throws usageError where no target is left; environmentError where nothing can be started
 */
export async function runAudit(
  request: Request,
  checks: readonly Check[],
  context: OpeningContext,
): Promise<Required<CampaignEnd>> {
  const { eventLog, signal } = context;
  const plugins = await registerPlugins(request.place.plugins, request.load.trace);
  const texts = targetTexts(request.targets);
  // Errors of the request are reported before anything is built or started.
  auditPlan(request.targets, checks);

  const root = join(request.output.folder, AUDITS);
  return withLease(request, { ...context, plugins }, { root }, async (opened) => {
    const { lease, python } = opened;
    const versions = versionsOfTargets(measurable(texts));
    // A store that was killed is started again at its address.
    const restartsStores = true;
    const end = await withRuntime(request, versions, opened, restartsStores, async (place) => {
      const { runtime, choice, available } = place;
      eventLog.info(choice);
      const plan = auditPlan(request.targets, checks, available());
      for (const line of auditPlanLines(plan)) eventLog.info(line);

      const folder = await abortable(signal, createCampaignFolder(root, new Date()));
      await lease.update({ folder });
      const auditContext = { ...context, request, checks, runtime, lease, folder };
      const document = await auditTargets(plan, auditContext);
      await makeReport(python, folder, eventLog, request.output.junit);
      return { exitCode: auditExitCode(document), folder };
    });
    return { ...end, exitCode: endCode(end.exitCode, opened) };
  });
}

/** The targets of these texts that can be measured anywhere. */
const measurable = (texts: readonly string[]): Target[] =>
  texts.flatMap((text) => {
    const resolution = resolveTarget(text);
    return "target" in resolution ? [resolution.target] : [];
  });

type Skip = Audit["skips"][number];

interface AuditContext extends OpeningContext {
  request: Request;
  checks: readonly Check[];
  runtime: Runtime;
  lease: Lease;
  folder: string;
}

/**
 * Checks all targets, some at once. The document is written after each of them, so that an
 * interruption loses only the targets under way.
 */
async function auditTargets({ targets, skips }: AuditPlan, context: AuditContext): Promise<Audit> {
  const { eventLog, folder } = context;
  const startedAt = new Date().toISOString();
  const audited: (AuditedTarget | undefined)[] = targets.map(() => undefined);
  const document = () => documentOf(audited, skips, startedAt, context);
  let written = Promise.resolve();
  const auditNext = async ([index, target]: [number, Target]): Promise<void> => {
    eventLog.info(`[${index + 1}/${targets.length}] ${target.label}`);
    const run = targets.length > 1 ? `target-${index + 1}` : undefined;
    audited[index] = await auditOf(target, run, context);
    written = written.then(() =>
      writeAtomically(join(folder, AUDIT_FILE), `${JSON.stringify(document(), null, 1)}\n`),
    );
    await written;
  };
  await forEachAtOnce(targets.entries(), AUDITS_AT_ONCE, auditNext);
  return document();
}

/** @param run the name of its parts beside those of other targets; absent where it is alone */
function auditOf(
  target: Target,
  run: string | undefined,
  { request, checks, runtime, lease, eventLog, signal, folder }: AuditContext,
): Promise<AuditedTarget> {
  const append = lineLog(join(folder, "audit.log"), (text) => eventLog.warn(text));
  const log = (text: string) => append(`${new Date().toISOString()} ${target.label}: ${text}`);
  const shown = (text: string) => (run === undefined ? `  ${text}` : `  ${target.label}: ${text}`);
  const settings = {
    target,
    caps: runtime.capsApplied
      ? mapCaps(request.place.caps, (kindCaps) => runtime.appliedCaps(kindCaps))
      : {},
    modules: moduleFiles(request.place.programs),
    serviceEnv: target.service ? request.targets.serviceEnv[target.service] : undefined,
  };
  const place = {
    runtime,
    lease,
    ...definedOnly({ run }),
    log: (role: string, line: string) => log(`${role}: ${line}`),
  };
  const listener: TargetListener = {
    check: ({ title }) => eventLog.detail(shown(title)),
    finding: (finding) => {
      // A check that ended because everything is being stopped has no finding.
      if (signal.aborted) return;

      const text = findingText(finding);
      log(text);
      if (isDefect(finding) || finding.status === "failed") eventLog.info(shown(text));
      else eventLog.detail(shown(text));
    },
  };
  return abortable(signal, auditTarget(settings, place, checks, listener));
}

function documentOf(
  audited: readonly (AuditedTarget | undefined)[],
  skips: readonly Skip[],
  startedAt: string,
  { request, checks, packageFolder, runtime, folder }: AuditContext,
): Audit {
  const targets = audited.filter((target) => target !== undefined);
  return {
    schema: AUDIT_SCHEMA,
    schema_version: AUDIT_SCHEMA_VERSION,
    audit: basename(folder),
    started_at: startedAt,
    finished_at: new Date().toISOString(),
    command: request.record.command,
    runtime: runtime.id,
    harness: harnessVersion(packageFolder),
    node: process.versions.node,
    programs: programsOf(targets, runtime),
    checks: checks.map(({ id, title, promise, matters }) => ({ id, title, promise, matters })),
    targets,
    skips: [...skips],
    counts: countsOf(targets),
  };
}

/** The versions of the stores and services that were checked, where they are known. */
function programsOf(targets: readonly AuditedTarget[], runtime: Runtime): Record<string, string> {
  const ids = new Set(
    targets.flatMap(({ target: { store, service } }) => [store, service ?? store]),
  );
  const versions: Record<string, string> = {};
  for (const id of ids) {
    const program = runtime.program(id);
    if (typeof program !== "string") versions[id] = program.version;
  }
  return versions;
}
