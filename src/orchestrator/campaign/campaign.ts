import { basename, join } from "node:path";
import { BenchError, EXIT, type ExitCode, messageOf } from "../../contract/errors.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { ensurePythonEnvironment } from "../../runtimes/python.js";
import type { VersionPlace } from "../../runtimes/types.js";
import { askingOf } from "../adaptive/decide.js";
import { Rounds } from "../adaptive/rounds.js";
import { Checksums } from "../files/checksums.js";
import {
  createCampaignFolder,
  pointLatest,
  requireResultsRoot,
  requireWritable,
  stamp,
} from "../files/results-folder.js";
import { requireFitMachine } from "../host/doctor.js";
import { reclaimOrphans } from "../host/leftovers.js";
import type { StartCheck } from "../host/start-check.js";
import { ensureVersions } from "../host/versions/index.js";
import { wantedVersions } from "../host/versions/wanted.js";
import { Aborted, unlessAborted } from "../ownership/abort.js";
import { Lease } from "../ownership/lease.js";
import { takeLock } from "../ownership/state.js";
import { learnOverheads, overheadsOf } from "../plan/estimate.js";
import { makePlan } from "../plan/plan.js";
import { type Begun, findCampaign } from "../request/existing-campaign.js";
import type { Request } from "../request/request.js";
import { discoverStore } from "../run/external-store.js";
import { hasStore, type OpenedRuntime, openRuntime, requireAskedCpus } from "../run/open-runtime.js";
import { usePlugins, withNotes } from "../run/plugins.js";
import { Progress } from "../run/progress.js";
import type { Journal } from "../ui/event-log.js";
import { announce } from "./announce.js";
import {
  closeCampaign,
  inventory,
  isComplete,
  type Measured,
  NOTHING,
  type Stock,
} from "./completed-runs.js";
import { endSession, resumedManifest, saveManifest, startManifest } from "./manifest.js";
import { buildReport, missedThresholds, type Summary } from "./report.js";
import { Recorder } from "./run-loop.js";

/** How a campaign ended. */
export interface CampaignEnd {
  exitCode: ExitCode;
  /** Where its results are, absolute; absent where it ended before it had a folder. */
  folder?: string;
}

/** What every step of a campaign stands on. */
interface Ground {
  packageFolder: string;
  journal: Journal;
  signal: AbortSignal;
  startCheck: StartCheck;
}

/** The whole story of a campaign, from the request to the report. @returns the exit code */
export async function runCampaign(request: Request, ground: Ground): Promise<ExitCode> {
  const { packageFolder, journal, startCheck } = ground;
  startCheck.begin();
  const plugins = await usePlugins(request.plugins);
  // What is wrong with the request itself is said before anything is looked for, built or started.
  const begun = request.resume === undefined ? undefined : findCampaign(request.output, request.resume);
  if (!begun) {
    makePlan(request, () => true);
    await unlessAborted(ground.signal, requireResultsRoot(request.output));
  }
  await requireAskedCpus(request);
  if (request.strict) await requireFitMachine(request.runtime, packageFolder);
  for (const notice of request.notices) journal.warn(notice);
  for (const line of await reclaimOrphans()) journal.warn(line);
  // The report needs it: what is missing is to be known before hours of measuring, not after them.
  await ensurePythonEnvironment(packageFolder, (text) => journal.saySetUp(text), ground.signal);
  const name = begun?.manifest.campaign ?? stamp(new Date());
  const release = request.allowParallel ? async () => {} : await takeLock(name);
  try {
    const lease = await Lease.open(name);
    try {
      const stock = begun ? await inventory(begun, lease, journal) : NOTHING;
      const campaign =
        begun && isComplete(begun, stock)
          ? await closeCampaign(begun, stock, journal)
          : await measure(request, begun, stock, lease, { ...ground, plugins }).catch(async (error) => {
              if (error instanceof Aborted) await reportMeasured(error, lease, ground);
              throw error;
            });
      return await conclude(campaign, lease, ground);
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
  begun: Begun | undefined,
  { there }: Stock,
  lease: Lease,
  ground: Ground & { plugins: readonly LoadedPlugin[] },
): Promise<Measured> {
  const { packageFolder, journal, signal, startCheck } = ground;
  const plugins = ground.plugins.map(({ facts }) => facts);
  const now = new Date();
  const wanted = wantedVersions(begun?.manifest.plan ?? makePlan(request, () => true));
  const versions = await ensureVersions(wanted, {
    signal,
    hold: (pid) => lease.hold(pid),
    say: (text) => journal.saySetUp(text),
  });
  const { runtime, choice } = await open(request, versions, lease, ground);
  // What an engine did to build images is nobody's work any more.
  if (runtime.engine) startCheck.begin();
  try {
    const external = await discoverStore(request.storeAccess, runtime);
    const available = (store: string) => hasStore(runtime, external, store);
    const plan = begun?.manifest.plan ?? withNotes(makePlan(request, available, external), ground.plugins);
    await requireWritable(request.outputFile);
    const folder = begun?.folder ?? (await unlessAborted(signal, createCampaignFolder(request.output, now)));
    await lease.note({ folder });
    journal.writeTo(join(folder, "benchmark.log"));
    const campaign = begun?.manifest.campaign ?? basename(folder);
    const overheads = await overheadsOf(runtime.id);
    const fresh = await startManifest(campaign, request, plan, runtime, external, packageFolder);
    if (plugins.length > 0) fresh.plugins = plugins;
    if (versions) fresh.versions = [...versions.facts];
    const manifest = begun ? resumedManifest(begun.manifest, fresh) : fresh;
    announce({ campaign, folder, runtime: runtime.id, choice }, plan, overheads, journal);
    for (const condition of manifest.conditions) journal.say(`note: ${condition}`);
    await saveManifest(manifest, folder);
    try {
      const warning = await startCheck.warning(runtime, signal);
      if (warning) journal.warn(warning);
      const checksums = await Checksums.of(folder);
      const progress = new Progress(journal, plan, overheads);
      const ask = askingOf(packageFolder, folder, signal, (pid) => lease.hold(pid));
      const save = () => saveManifest(manifest, folder).catch((error) => journal.warn(messageOf(error)));
      const choice =
        plan.adaptive && new Rounds({ manifest, there, overheads, journal, progress, ask, save });
      const things = { campaign, folder, plan, runtime, lease, journal, progress, signal, request, external };
      const outcomes = await new Recorder({
        ...things,
        plugins,
        there,
        checksums,
        ...(choice && { choice }),
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
        await saveManifest(manifest, folder).catch((error) => journal.warn(messageOf(error)));
        if (!request.trial) await pointLatest(folder).catch((error) => journal.warn(messageOf(error)));
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
  { packageFolder, journal, signal, plugins }: Ground & { plugins: readonly LoadedPlugin[] },
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
    say: (text) => journal.saySetUp(text),
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
  { folder, outcomes }: Measured,
  lease: Lease,
  { packageFolder, journal, signal }: Ground,
): Promise<ExitCode> {
  journal.tell({ event: "phase", phase: "report" });
  const failed = outcomes.filter(({ status }) => status === "failed").length;
  const building = buildReport(packageFolder, folder, signal, (pid) => lease.hold(pid));
  const summary = await building.catch((error) => {
    // That runs failed, e.g. for want of disk space, is what has to be mended first.
    if (failed === 0 || !(error instanceof BenchError)) throw error;
    journal.warn(error.message);
    return undefined;
  });
  if (!summary) return EXIT.configurationFailed;
  for (const line of summary.recommendation.sentences) journal.say(line);
  const missed = missedThresholds(summary);
  for (const line of missed) journal.warn(`threshold: ${line}`);
  tellReport(summary, journal);
  const invalid = outcomes.filter(({ status }) => status === "invalid").length;
  if (failed > 0) return EXIT.configurationFailed;
  if (missed.length > 0) return EXIT.regression;
  return invalid > 0 ? EXIT.runsInvalid : EXIT.done;
}

function tellReport({ report, configurations, thresholds, adaptive }: Summary, journal: Journal): void {
  journal.tell({
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
  { packageFolder, journal }: Ground,
): Promise<void> {
  const { folder, measured } = journal;
  const leftMs = Math.floor(at + REPORT_WITHIN_MS - performance.now());
  if (folder === undefined || measured === 0 || leftMs <= 0) return;
  journal.tell({ event: "phase", phase: "report" });
  const late = AbortSignal.timeout(leftMs);
  try {
    tellReport(await buildReport(packageFolder, folder, late, (pid) => lease.hold(pid)), journal);
  } catch (error) {
    journal.warn(late.aborted ? "there was no time left to build the report" : messageOf(error));
  }
}
