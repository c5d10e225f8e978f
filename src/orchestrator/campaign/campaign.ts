import { basename, join } from "node:path";
import { BenchError, EXIT, type ExitCode, messageOf } from "../../contract/errors.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { ensurePythonEnvironment } from "../../runtimes/local/python-environment.js";
import type { VersionPlace } from "../../runtimes/types.js";
import { roundDecider } from "../adaptive/round-decider.js";
import { AdaptiveRounds } from "../adaptive/rounds.js";
import { Checksums } from "../files/checksums.js";
import {
  createCampaignFolder,
  pointLatest,
  requireResultsRoot,
  requireWritable,
  stamp,
} from "../files/results-folder.js";
import { requireFitMachine } from "../host/doctor.js";
import { removeLeftovers } from "../host/leftovers.js";
import type { StartCheck } from "../host/start-check.js";
import { ensureVersions } from "../host/versions/index.js";
import { wantedVersions } from "../host/versions/wanted.js";
import { Aborted, unlessAborted } from "../ownership/abort.js";
import { Lease } from "../ownership/lease.js";
import { takeLock } from "../ownership/state-folder.js";
import { learnOverheads, overheadsOf } from "../plan/estimate.js";
import { makePlan, type Selection, selectConfigurations } from "../plan/plan.js";
import { type ExistingCampaign, findCampaign } from "../request/existing-campaign.js";
import type { Request } from "../request/request.js";
import { discoverStore } from "../run/external-store.js";
import { hasStore, type OpenedRuntime, openRuntime, requireAskedCpus } from "../run/open-runtime.js";
import { usePlugins, withNotes } from "../run/plugins.js";
import { Progress } from "../run/progress.js";
import type { EventLog } from "../ui/event-log.js";
import { announce } from "./announce.js";
import {
  type CampaignOutcome,
  type CompletedRuns,
  finishCompleteCampaign,
  isComplete,
  NOTHING,
  openExistingCampaign,
} from "./completed-runs.js";
import { endSession, resumedManifest, saveManifest, startManifest } from "./manifest.js";
import { buildReport, missedThresholds, type Summary } from "./report.js";
import { RunLoop } from "./run-loop.js";

/** How a campaign ended. */
export interface CampaignEnd {
  exitCode: ExitCode;
  /** Where its results are, absolute; absent where it ended before it had a folder. */
  folder?: string;
}

/** What every step of a campaign stands on. */
interface CampaignContext {
  packageFolder: string;
  eventLog: EventLog;
  signal: AbortSignal;
  startCheck: StartCheck;
}

/** The whole story of a campaign, from the request to the report. @returns the exit code */
export async function runCampaign(request: Request, context: CampaignContext): Promise<ExitCode> {
  const { packageFolder, eventLog, startCheck } = context;
  startCheck.begin();
  const plugins = await usePlugins(request.plugins);
  // What is wrong with the request itself is said before anything is looked for, built or started.
  const existing = request.resume === undefined ? undefined : findCampaign(request.output, request.resume);
  const requested = existing?.manifest.plan ?? selectConfigurations(request);
  if (!existing) await unlessAborted(context.signal, requireResultsRoot(request.output));
  await requireAskedCpus(request);
  if (request.strict) await requireFitMachine(request.runtime, packageFolder);
  for (const notice of request.notices) eventLog.warn(notice);
  for (const line of await removeLeftovers()) eventLog.warn(line);
  // The report needs it: what is missing is to be known before hours of measuring, not after them.
  await ensurePythonEnvironment(packageFolder, (text) => eventLog.setUp(text), context.signal);
  const name = existing?.manifest.campaign ?? stamp(new Date());
  const release = request.allowParallel ? async () => {} : await takeLock(name);
  try {
    const lease = await Lease.open(name);
    try {
      const stock = existing ? await openExistingCampaign(existing, lease, eventLog) : NOTHING;
      const campaign =
        existing && isComplete(existing, stock)
          ? await finishCompleteCampaign(existing, stock, eventLog)
          : await measure(request, requested, existing, stock, lease, { ...context, plugins }).catch(
              async (error) => {
                if (error instanceof Aborted) await reportMeasured(error, lease, context);
                throw error;
              },
            );
      return await conclude(campaign, lease, context);
    } finally {
      await lease.close();
    }
  } finally {
    await release();
  }
}

/** Opens the runtime, works through what the plan still lacks, and gives back what was started. */
async function measure(
  request: Request,
  requested: Pick<Selection, "configurations">,
  existing: ExistingCampaign | undefined,
  { there }: CompletedRuns,
  lease: Lease,
  context: CampaignContext & { plugins: readonly LoadedPlugin[] },
): Promise<CampaignOutcome> {
  const { packageFolder, eventLog, signal, startCheck } = context;
  const plugins = context.plugins.map(({ facts }) => facts);
  const now = new Date();
  const versions = await ensureVersions(wantedVersions(requested), {
    signal,
    hold: (pid) => lease.hold(pid),
    say: (text) => eventLog.setUp(text),
  });
  const { runtime, choice } = await open(request, versions, lease, context);
  // What an engine did to build images is nobody's work any more.
  if (runtime.engine) startCheck.begin();
  try {
    const external = await discoverStore(request.storeAccess, runtime);
    const available = (store: string) => hasStore(runtime, external, store);
    const plan =
      existing?.manifest.plan ?? withNotes(makePlan(request, available, external), context.plugins);
    await requireWritable(request.outputFile);
    const folder =
      existing?.folder ?? (await unlessAborted(signal, createCampaignFolder(request.output, now)));
    await lease.note({ folder });
    eventLog.writeTo(join(folder, "benchmark.log"));
    const campaign = existing?.manifest.campaign ?? basename(folder);
    const overheads = await overheadsOf(runtime.id);
    const fresh = await startManifest(campaign, request, plan, runtime, external, packageFolder);
    if (plugins.length > 0) fresh.plugins = plugins;
    if (versions) fresh.versions = [...versions.facts];
    const manifest = existing ? resumedManifest(existing.manifest, fresh) : fresh;
    announce({ campaign, folder, runtime: runtime.id, choice }, plan, overheads, eventLog);
    for (const condition of manifest.conditions) eventLog.info(`note: ${condition}`);
    await saveManifest(manifest, folder);
    try {
      const warning = await startCheck.warning(runtime, signal);
      if (warning) eventLog.warn(warning);
      const checksums = await Checksums.of(folder);
      const progress = new Progress(eventLog, plan, overheads);
      const ask = roundDecider(packageFolder, folder, signal, (pid) => lease.hold(pid));
      const save = () => saveManifest(manifest, folder).catch((error) => eventLog.warn(messageOf(error)));
      const selection =
        plan.adaptive && new AdaptiveRounds({ manifest, there, overheads, eventLog, progress, ask, save });
      const things = {
        campaign,
        folder,
        plan,
        runtime,
        lease,
        eventLog,
        progress,
        signal,
        request,
        external,
      };
      const outcomes = await new RunLoop({
        ...things,
        plugins,
        there,
        checksums,
        ...(selection && { selection }),
      }).recordAll();
      manifest.status = "finished";
      const measured = outcomes.filter(({ file, status }) => status !== "failed" && !there.has(file));
      await learnOverheads(runtime.id, plan.warmup_s, measured);
      return { folder, outcomes };
    } finally {
      endSession(manifest);
      try {
        await lease.giveBack();
      } finally {
        // Neither may hide how the campaign ended.
        await saveManifest(manifest, folder).catch((error) => eventLog.warn(messageOf(error)));
        if (!request.trial) await pointLatest(folder).catch((error) => eventLog.warn(messageOf(error)));
      }
    }
  } finally {
    await runtime.close();
  }
}

/** @throws Aborted, also while it opens; a runtime that nobody waits for any more is closed */
async function open(
  request: Request,
  versions: VersionPlace | undefined,
  lease: Lease,
  { packageFolder, eventLog, signal, plugins }: CampaignContext & { plugins: readonly LoadedPlugin[] },
): Promise<OpenedRuntime> {
  const opening = openRuntime(request, {
    packageFolder,
    workFolder: lease.workFolder,
    owner: lease.owner,
    campaign: lease.owner.campaign,
    signal,
    plugins,
    versions,
    hold: (pid) => lease.hold(pid),
    say: (text) => eventLog.setUp(text),
  });
  const opened = await unlessAborted(signal, opening).catch(async (error) => {
    const late = await opening.catch(() => undefined);
    await late?.runtime.close();
    throw error;
  });
  await lease.note({ runtime: opened.runtime.id });
  return opened;
}

/** The report. In the exit code failed runs outrank missed thresholds, and those invalid runs. */
async function conclude(
  { folder, outcomes }: CampaignOutcome,
  lease: Lease,
  { packageFolder, eventLog, signal }: CampaignContext,
): Promise<ExitCode> {
  eventLog.emit({ event: "phase", phase: "report" });
  const failed = outcomes.filter(({ status }) => status === "failed").length;
  const building = buildReport(packageFolder, folder, signal, (pid) => lease.hold(pid));
  const summary = await building.catch((error) => {
    // That runs failed, e.g. for want of disk space, is what has to be mended first.
    if (failed === 0 || !(error instanceof BenchError)) throw error;
    eventLog.warn(error.message);
    return undefined;
  });
  if (!summary) return EXIT.configurationFailed;
  for (const line of summary.recommendation.sentences) eventLog.info(line);
  const missed = missedThresholds(summary);
  for (const line of missed) eventLog.warn(`threshold: ${line}`);
  tellReport(summary, eventLog);
  const invalid = outcomes.filter(({ status }) => status === "invalid").length;
  if (failed > 0) return EXIT.configurationFailed;
  if (missed.length > 0) return EXIT.regression;
  return invalid > 0 ? EXIT.runsInvalid : EXIT.done;
}

function tellReport({ report, configurations, thresholds, adaptive }: Summary, eventLog: EventLog): void {
  eventLog.emit({
    event: "report",
    path: report,
    configurations,
    thresholds,
    ...(adaptive ? { adaptive } : {}),
  });
}

/** Of the 15 s in which an interrupted campaign ends; the rest is for the end of all programs. */
const REPORT_WITHIN_MS = 12_000;

/** An interrupted campaign has a report of what was measured, where it can be built in the time that is left. */
async function reportMeasured(
  { at }: Aborted,
  lease: Lease,
  { packageFolder, eventLog }: CampaignContext,
): Promise<void> {
  const { folder, measured } = eventLog;
  const leftMs = Math.floor(at + REPORT_WITHIN_MS - performance.now());
  if (folder === undefined || measured === 0 || leftMs <= 0) return;
  eventLog.emit({ event: "phase", phase: "report" });
  const late = AbortSignal.timeout(leftMs);
  try {
    tellReport(await buildReport(packageFolder, folder, late, (pid) => lease.hold(pid)), eventLog);
  } catch (error) {
    eventLog.warn(late.aborted ? "there was no time left to build the report" : messageOf(error));
  }
}
