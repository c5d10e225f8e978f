import { basename } from "node:path";
import type { Manifest } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import { CAMPAIGN_COMMAND, runnableIn } from "../../kit/command-text.js";
import { definedOnly } from "../../kit/defined-only.js";
import { type ExitCode, environmentError, messageOf } from "../../kit/errors.js";
import { AdaptiveRounds, type RunSelection, roundDecider } from "../adaptive/rounds.js";
import { SpareRound } from "../adaptive/spare-round.js";
import { TimedRounds } from "../adaptive/timed-rounds.js";
import { Checksums } from "../files/checksums.js";
import {
  createCampaignFolder,
  requireWritable,
  updateLatestLink,
} from "../files/results-folder.js";
import type { ForeignLoadCheck } from "../host/foreign-load.js";
import { limitsNotes } from "../host/machine.js";
import { requestedVersions } from "../host/versions.js";
import { MaxRateSearch } from "../max-rate/search.js";
import { withExpectedTrials } from "../max-rate/searched-rates.js";
import { Aborted, abortable } from "../ownership/abort.js";
import { requestedRuns } from "../plan/decision-rounds.js";
import { learnOverheads, type Overheads, overheadsOf, roomReason } from "../plan/estimate.js";
import { selectConfigurations } from "../plan/make-plan.js";
import { mapCaps } from "../request/caps.js";
import { type ExistingCampaign, findCampaign } from "../request/existing-campaign.js";
import type { Request, RequestedLoad } from "../request/request.js";
import type { RunOutcome } from "../run/result-documents.js";
import { discoverStore } from "../run/store/discover-store.js";
import { authorityOf } from "../run/store/store-authority.js";
import type { EventLog } from "../ui/event-log.js";
import { announceCampaign } from "./announce-campaign.js";
import { CampaignMachines } from "./campaign-machines.js";
import { CampaignProgress } from "./campaign-progress.js";
import {
  type CampaignOutcome,
  isComplete,
  type OpenedCampaign,
  openExistingCampaign,
} from "./completed-runs.js";
import { buildFinalReport, reportInterrupted } from "./final-report.js";
import { type CampaignPlace, findPlan } from "./find-plan.js";
import {
  endCode,
  type Opened,
  type OpenedRuntime,
  type OpeningContext,
  withLease,
  withRuntime,
} from "./open-runtime.js";
import { RunLoop } from "./run-loop.js";
import { registerPlugins } from "./used-plugins.js";
import { endSession, resumedManifest, saveManifest, startManifest } from "./write-manifest.js";

export interface CampaignEnd {
  exitCode: ExitCode;
  /** The absolute path of its results; absent where the campaign ended before it had a folder. */
  folder?: string;
}

export async function runCampaign(
  request: Request,
  context: OpeningContext & { foreignLoad: ForeignLoadCheck },
): Promise<ExitCode> {
  const { foreignLoad } = context;
  foreignLoad.start();
  const plugins = await registerPlugins(request.place.plugins, request.load.trace);

  // Errors of the request are reported before anything is searched, built or started.
  const { resume } = request.start;
  const { folder: root } = request.output;
  const existing = resume === undefined ? undefined : findCampaign(root, resume);
  const requested = existing?.manifest.plan ?? selectConfigurations(request);
  const place = existing ? { name: existing.manifest.campaign } : { root };

  return withLease(request, { ...context, plugins }, place, async (opened) => {
    const { python, eventLog } = opened;
    const campaign = { ...opened, foreignLoad, requested, began: new Date() };
    const outcome = await outcomeOf(request, existing, campaign);
    const code = await buildFinalReport(outcome, python, eventLog, request.output.junit);
    const { leadsTo } = request.output;
    if (leadsTo)
      eventLog.info(`${leadsTo.why}: ${runnableIn(CAMPAIGN_COMMAND)} --preset ${leadsTo.preset}`);
    return endCode(code, opened);
  });
}

/** The context of a campaign before its runtime is open. */
interface CampaignContext extends Opened {
  foreignLoad: ForeignLoadCheck;
  began: Date;
  /** The configurations that may be measured, before anyone has asked what is available. */
  requested: Pick<Plan, "configurations">;
}

/** Measures the runs that are missing. */
async function outcomeOf(
  request: Request,
  existing: ExistingCampaign | undefined,
  context: CampaignContext,
): Promise<CampaignOutcome> {
  const { lease, python, eventLog, requested } = context;
  const resumed = existing && (await openExistingCampaign(existing, lease, eventLog));
  if (resumed && isComplete(resumed)) return finishCompleteCampaign(resumed, eventLog);

  try {
    return await withRuntime(
      request,
      requestedVersions(requested),
      context,
      hasFaults(request.load),
      (openedRuntime) => measure(request, resumed, { ...context, ...openedRuntime }),
    );
  } catch (error) {
    if (error instanceof Aborted) await reportInterrupted(error, python, eventLog);
    throw error;
  }
}

const hasFaults = ({ faults }: RequestedLoad): boolean =>
  faults.some((alternative) => alternative.length > 0);

type MeasureContext = CampaignContext & OpenedRuntime;

async function measure(
  requested: Request,
  existing: OpenedCampaign | undefined,
  context: MeasureContext,
): Promise<CampaignOutcome> {
  const { eventLog, signal, foreignLoad, lease, runtime, choice } = context;
  // The engine builds images outside of this process tree, which would count as foreign load before.
  if (runtime.engine) foreignLoad.start();
  const place = await openPlace(requested, context);
  const { request, plan } = existing
    ? { request: requested, plan: existing.manifest.plan }
    : await findPlan(requested, place, context);
  await requireWritable(request.output.file);
  await requireWritable(request.output.junit, "--junit");

  const completed = existing?.completed ?? new Map<string, RunOutcome>();
  const expected = expectedPlan(plan, existing?.manifest);
  const missing = { ...expected, runs: expected.runs.filter(({ file }) => !completed.has(file)) };
  const noRoomReason = await roomReason(missing, runtime.id, request.output.folder);
  if (noRoomReason !== undefined) throw environmentError(noRoomReason);

  const folder = existing?.folder ?? (await newFolder(request.output.folder, context));
  await lease.update({ folder });
  eventLog.writeTo(folder);
  const name = existing?.manifest.campaign ?? basename(folder);
  const overheads = await overheadsOf(runtime.id, plan.order);
  const machines = await abortable(signal, CampaignMachines.open(runtime, lease, eventLog));
  const sessionManifest = await newManifest(name, request, plan, place, machines, context);
  const manifest = existing ? resumedManifest(existing.manifest, sessionManifest) : sessionManifest;

  const opened = { campaign: name, folder, runtime: runtime.id };
  announceCampaign(opened, choice, expected, overheads, eventLog);
  for (const condition of manifest.conditions) eventLog.info(`note: ${condition}`);
  await saveManifest(manifest, folder);

  const campaign = { name, folder, request, plan, manifest, completed, overheads, place, machines };
  return measureRuns(campaign, context);
}

/** Finds out what the place where the campaign measures has and can do. */
async function openPlace(request: Request, context: MeasureContext): Promise<CampaignPlace> {
  const { runtime, available, requested } = context;
  const external = await discoverStore(request.place.storeAccess, runtime);
  const partFaults = hasFaults(request.load) ? await runtime.partFaults() : undefined;
  const caps = runtime.capsApplied
    ? mapCaps(request.place.caps, (kindCaps) => runtime.appliedCaps(kindCaps))
    : {};
  const planContext = {
    available: available(external),
    caps,
    external,
    ...definedOnly({ partFaults }),
    placeNotes: limitsNotes(runtime.id),
  };
  const configurations = requested.configurations.map(({ configuration }) => configuration);
  return { planContext, external, partFaults, authority: await authorityOf(configurations) };
}

/** The plan with the trials that a search for the highest rate is likely to need. */
function expectedPlan(plan: Plan, manifest: Manifest | undefined): Plan {
  const trials = manifest?.max_rate?.trials ?? [];
  return withExpectedTrials(plan, new Map(trials.map(({ file, status }) => [file, status])));
}

const newFolder = (root: string, { signal, began }: MeasureContext): Promise<string> =>
  abortable(signal, createCampaignFolder(root, began));

async function newManifest(
  name: string,
  request: Request,
  plan: Plan,
  { external }: CampaignPlace,
  machines: CampaignMachines | undefined,
  { runtime, packageFolder, plugins, versions }: MeasureContext,
): Promise<Manifest> {
  const manifest = await startManifest(
    name,
    request,
    plan,
    runtime,
    external,
    packageFolder,
    machines?.described,
  );
  if (plugins.length > 0) manifest.plugins = plugins.map(({ identity }) => identity);
  if (versions) manifest.versions = [...versions.installed];
  return manifest;
}

/** A campaign whose folder has its manifest, so that it can be resumed. */
interface RecordedCampaign {
  name: string;
  folder: string;
  request: Request;
  plan: Plan;
  manifest: Manifest;
  /** The outcomes of earlier sessions, by result file. */
  completed: ReadonlyMap<string, RunOutcome>;
  overheads: Overheads;
  place: CampaignPlace;
  machines: CampaignMachines | undefined;
}

async function measureRuns(
  campaign: RecordedCampaign,
  context: MeasureContext,
): Promise<CampaignOutcome> {
  const { folder, plan, manifest, completed, machines } = campaign;
  const { runtime, eventLog, signal, foreignLoad } = context;
  // A failure to save the manifest or the link must not hide how the campaign ended.
  const warn = (error: unknown) => eventLog.warn(messageOf(error));
  const save = () => saveManifest(manifest, folder).catch(warn);
  const session = manifest.sessions?.at(-1);
  try {
    const warning = await foreignLoad.warning(runtime, manifest.plan.order === "turns", signal);
    if (warning) eventLog.warn(warning);
    if (machines && session) {
      session.links = await abortable(signal, machines.measureLinks());
      await save();
    }

    const loop = await openRunLoop(campaign, save, context);
    const outcomes = await loop.runAll();
    manifest.status = loop.isOutOfRoom ? "aborted" : "finished";

    const measured = outcomes.filter(
      ({ file, status }) => status !== "failed" && !completed.has(file),
    );
    await learnOverheads(runtime.id, plan, measured);
    return { folder, outcomes, ...definedOnly({ search: manifest.max_rate }) };
  } finally {
    endSession(manifest);
    await save();
    await updateLatestLink(folder).catch(warn);
  }
}

async function openRunLoop(
  campaign: RecordedCampaign,
  save: () => Promise<void>,
  context: MeasureContext,
): Promise<RunLoop> {
  const { name, folder, request, plan, manifest, completed, overheads, place } = campaign;
  const { runtime, lease, eventLog, signal, plugins } = context;
  const { external, authority, partFaults } = place;
  const checksums = await Checksums.read(folder);
  const progress = new CampaignProgress(eventLog, plan, overheads);
  const selection = await openSelection(campaign, progress, save, context);
  return new RunLoop({
    campaign: name,
    folder,
    plan,
    manifest,
    runtime,
    lease,
    eventLog,
    progress,
    signal,
    request,
    external,
    plugins: plugins.map(({ identity }) => identity),
    completed,
    checksums,
    ...definedOnly({ authority, partFaults, selection, machines: campaign.machines }),
  });
}

/** The selection of the plan's runs that are needed; undefined where all of them are. */
async function openSelection(
  { folder, request, plan, manifest, completed, overheads }: RecordedCampaign,
  progress: CampaignProgress,
  save: () => Promise<void>,
  { python, eventLog }: MeasureContext,
): Promise<RunSelection | undefined> {
  const options = { manifest, completed, overheads, eventLog, progress, save };
  if (plan.max_rate) return MaxRateSearch.open({ ...options, folder });
  if (plan.adaptive)
    return new AdaptiveRounds({ ...options, decideRound: roundDecider(python, folder) });
  const { timeLimit } = request.rounds;
  if (timeLimit) return new TimedRounds(timeLimit);
  return plan.spare_runs ? SpareRound.open(options) : undefined;
}

/**
 * Ends a campaign whose runs are all completed. It may have been killed before it could save that.
 */
async function finishCompleteCampaign(
  { folder, manifest, completed, outcomes }: OpenedCampaign,
  eventLog: EventLog,
): Promise<CampaignOutcome> {
  const { runtime, campaign, max_rate: search } = manifest;
  const plan = { ...manifest.plan, runs: requestedRuns(manifest) };
  const overheads = await overheadsOf(runtime.id, plan.order);
  const choice = "nothing is missing: the report is built again";
  announceCampaign({ campaign, folder, runtime: runtime.id }, choice, plan, overheads, eventLog);

  const progress = new CampaignProgress(eventLog, plan, overheads);
  for (const planned of plan.runs) {
    const outcome = completed.get(planned.file);
    if (outcome) progress.kept(planned, outcome);
  }

  if (manifest.status !== "finished")
    await saveManifest({ ...manifest, status: "finished" }, folder);
  await updateLatestLink(folder).catch((error) => eventLog.warn(messageOf(error)));
  return { folder, outcomes, ...definedOnly({ search }) };
}
