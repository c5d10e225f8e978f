import { basename } from "node:path";
import type { Configuration } from "../../contract/configuration.js";
import type { Plan } from "../../contract/plan.js";
import { isGeneratorSaturated } from "../../judge/rules/generator.js";
import { type ExitCode, environmentError, messageOf } from "../../kit/errors.js";
import { AdaptiveRounds, roundDecider } from "../adaptive/rounds.js";
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
import { planOf, withExpectedTrials } from "../max-rate/searched-rates.js";
import { Aborted, abortable } from "../ownership/abort.js";
import { costOfOrder, decidable } from "../plan/decidable.js";
import { requestedRuns } from "../plan/decision-rounds.js";
import {
  estimateRange,
  learnOverheads,
  type Overheads,
  overheadsOf,
  roomReason,
} from "../plan/estimate.js";
import { type PlanContext, selectConfigurations } from "../plan/make-plan.js";
import { moduleFiles } from "../plan/module-files.js";
import { type StoreFindings, storeLayerConfigurations } from "../plan/store-layer.js";
import { mapCaps } from "../request/caps.js";
import { findCampaign } from "../request/existing-campaign.js";
import type { Request } from "../request/request.js";
import { executeRun } from "../run/execute-run.js";
import type { ExternalStore } from "../run/layout.js";
import { findingsOf } from "../run/program-run.js";
import type { RunOutcome } from "../run/result-documents.js";
import { discoverStore } from "../run/run-store.js";
import type { EventLog } from "../ui/event-log.js";
import {
  atRate,
  CALIBRATION_WARMUP_S,
  calibrate,
  calibrated,
  type GeneratorTrial,
  generatorsNeeded,
  generatorsText,
  hardestLoads,
  withCalibration,
  withGenerators,
} from "./calibration.js";
import { CampaignMachines } from "./campaign-machines.js";
import { Progress } from "./campaign-progress.js";
import {
  type CampaignOutcome,
  isComplete,
  type OpenedCampaign,
  openExistingCampaign,
} from "./completed-runs.js";
import { buildFinalReport, reportInterrupted } from "./final-report.js";
import {
  endCode,
  type Opened,
  type OpenedRuntime,
  type OpeningContext,
  withLease,
  withRuntime,
} from "./open-runtime.js";
import { RunLoop } from "./run-loop.js";
import { registerPlugins, withSources } from "./used-plugins.js";
import { endSession, resumedManifest, saveManifest, startManifest } from "./write-manifest.js";

export interface CampaignEnd {
  exitCode: ExitCode;
  /** Absolute path of its results; absent where it ended before it had a folder. */
  folder?: string;
}

export async function runCampaign(
  request: Request,
  context: OpeningContext & { foreignLoad: ForeignLoadCheck },
): Promise<ExitCode> {
  const { eventLog, foreignLoad } = context;
  foreignLoad.start();
  const plugins = await registerPlugins(request);
  // Report errors of the request before anything is searched, built or started.
  const found =
    request.resume === undefined ? undefined : findCampaign(request.output, request.resume);
  const requested = found?.manifest.plan ?? selectConfigurations(request);
  const place = found ? { name: found.manifest.campaign } : { root: request.output };
  return withLease(request, { ...context, plugins }, place, async (opened) => {
    const shared = { ...opened, foreignLoad, began: new Date() };
    const existing = found && (await openExistingCampaign(found, opened.lease, eventLog));
    const outcome =
      existing && isComplete(existing)
        ? await finishCompleteCampaign(existing, eventLog)
        : await withRuntime(
            request,
            requestedVersions(requested),
            opened,
            hasFaults(request),
            (ready) => measure(request, existing, { ...shared, ...ready }),
          ).catch(async (error) => {
            if (error instanceof Aborted) await reportInterrupted(error, opened.python, eventLog);
            throw error;
          });
    return endCode(await buildFinalReport(outcome, opened.python, eventLog), opened);
  });
}

const hasFaults = ({ faults }: Request): boolean => faults.some((each) => each.length > 0);

type MeasureContext = Opened & OpenedRuntime & { foreignLoad: ForeignLoadCheck; began: Date };

async function measure(
  asked: Request,
  existing: OpenedCampaign | undefined,
  context: MeasureContext,
): Promise<CampaignOutcome> {
  const { packageFolder, eventLog, signal, foreignLoad, lease, python } = context;
  const { began, runtime, choice, versions, available } = context;
  const plugins = context.plugins.map(({ facts }) => facts);
  const completed = existing?.completed ?? new Map<string, RunOutcome>();
  // The engine builds images outside of this process tree: observe only from here on.
  if (runtime.engine) foreignLoad.start();
  const external = await discoverStore(asked.storeAccess, runtime);
  const partFaults = hasFaults(asked) ? await runtime.partFaults() : undefined;
  const planContext = {
    available: available(external),
    caps: runtime.capsApplied ? mapCaps(asked.caps, (caps) => runtime.appliedCaps(caps)) : {},
    external,
    ...(partFaults ? { partFaults } : {}),
    placeNotes: limitsNotes(runtime.id),
  };
  const findings = existing ? undefined : await findingsAt(asked, planContext, context);
  const trialOf = trialsAt(asked, external, context);
  const throughputOf = async (each: Configuration) => (await trialOf(each)).requests_per_second;
  const tell = (text: string) => eventLog.setUp(text);
  const calibration =
    asked.calibrates && !existing
      ? await calibrate(calibrated(selectConfigurations(asked, planContext)), throughputOf, tell)
      : undefined;
  const atItsRate = calibration ? atRate(asked, calibration.rate_per_second) : asked;
  const generator_trials =
    asked.findsGenerators && !existing
      ? await generatorsNeeded(
          hardestLoads(selectConfigurations(atItsRate, planContext)),
          trialOf,
          tell,
        )
      : undefined;
  const request = generator_trials
    ? withGenerators(atItsRate, generator_trials.generators)
    : atItsRate;
  const planned = () => {
    const made = planOf(request, { ...planContext, ...(findings && { findings }) });
    const notes = [...made.notes, ...(generator_trials ? [generatorsText(generator_trials)] : [])];
    const found = generator_trials ? { generator_trials } : {};
    return withSources({ ...made, ...found, notes }, context.plugins);
  };
  const plan =
    existing?.manifest.plan ?? (calibration ? withCalibration(planned(), calibration) : planned());
  await requireWritable(request.outputFile);
  const trials = existing?.manifest.max_rate?.trials ?? [];
  const expected = withExpectedTrials(
    plan,
    new Map(trials.map(({ file, status }) => [file, status])),
  );
  const missing = { ...expected, runs: expected.runs.filter(({ file }) => !completed.has(file)) };
  const lacking = await roomReason(missing, runtime.id, request.output);
  if (lacking !== undefined) throw environmentError(lacking);
  const folder =
    existing?.folder ?? (await abortable(signal, createCampaignFolder(request.output, began)));
  await lease.update({ folder });
  eventLog.writeTo(folder);
  const campaign = existing?.manifest.campaign ?? basename(folder);
  const overheads = await overheadsOf(runtime.id, plan.order);
  const machines = await abortable(signal, CampaignMachines.open(runtime, lease, eventLog));
  const fresh = await startManifest(
    campaign,
    request,
    plan,
    runtime,
    external,
    packageFolder,
    machines?.described,
  );
  if (plugins.length > 0) fresh.plugins = plugins;
  if (versions) fresh.versions = [...versions.facts];
  const manifest = existing ? resumedManifest(existing.manifest, fresh) : fresh;
  announceCampaign(
    { campaign, folder, runtime: runtime.id },
    choice,
    expected,
    overheads,
    eventLog,
  );
  for (const condition of manifest.conditions) eventLog.info(`note: ${condition}`);
  await saveManifest(manifest, folder);
  // A failure of these must not hide how the campaign ended.
  const warn = (error: unknown) => eventLog.warn(messageOf(error));
  const save = () => saveManifest(manifest, folder).catch(warn);
  try {
    const warning = await foreignLoad.warning(runtime, manifest.plan.order === "turns", signal);
    if (warning) eventLog.warn(warning);
    const session = manifest.sessions?.at(-1);
    if (machines && session) {
      session.links = await abortable(signal, machines.measureLinks());
      await save();
    }
    const checksums = await Checksums.read(folder);
    const progress = new Progress(eventLog, plan, overheads);
    const decideRound = roundDecider(python, folder);
    const selectionOptions = { manifest, completed, overheads, eventLog, progress, save };
    const selection = plan.max_rate
      ? await MaxRateSearch.open({ ...selectionOptions, folder })
      : plan.adaptive && new AdaptiveRounds({ ...selectionOptions, decideRound });
    const loop = new RunLoop({
      campaign,
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
      plugins,
      completed,
      checksums,
      ...(partFaults && { partFaults }),
      ...(selection && { selection }),
      ...(machines && { machines }),
    });
    const outcomes = await loop.runAll();
    if (machines && session) session.links = await abortable(signal, machines.measureClocks());
    manifest.status = loop.lacksRoom ? "aborted" : "finished";
    const measured = outcomes.filter(
      ({ file, status }) => status !== "failed" && !completed.has(file),
    );
    await learnOverheads(runtime.id, plan, measured);
    return { folder, outcomes, ...(manifest.max_rate ? { search: manifest.max_rate } : {}) };
  } finally {
    endSession(manifest);
    await save();
    await updateLatestLink(folder).catch(warn);
  }
}

/**
 * Starts each store of the store layer once and asks what it lacks; undefined without that layer.
 */
async function findingsAt(
  request: Request,
  { available, caps }: Pick<PlanContext, "available" | "caps">,
  { eventLog, signal, lease, runtime }: MeasureContext,
): Promise<StoreFindings | undefined> {
  if (request.stores.length === 0) return undefined;
  const { configurations } = storeLayerConfigurations(request, {
    available,
    ...(caps && { caps }),
  });
  const byStore = new Map(
    configurations.map(({ configuration }) => [configuration.target.store, configuration]),
  );
  const settings = [...byStore.values()].map((configuration) => ({
    configuration,
    seed: 0,
    warmupS: 0,
    workers: 1,
    caps: request.caps,
  }));
  return abortable(
    signal,
    findingsOf(settings, runtime, lease, (role, line) => eventLog.programLine(role, line)),
  );
}

/** Makes one run of a configuration before the campaign, which is not one of its own. */
function trialsAt(
  request: Request,
  external: ExternalStore | undefined,
  { eventLog, signal, lease, runtime }: MeasureContext,
): (configuration: Configuration) => Promise<GeneratorTrial> {
  return async (configuration) => {
    const { seed, workers, caps } = request;
    const settings = {
      configuration,
      seed,
      workers,
      caps,
      warmupS: CALIBRATION_WARMUP_S,
      modules: moduleFiles(request),
      ...(external ? { external } : {}),
    };
    const log = (role: string, line: string) => eventLog.programLine(role, line);
    const listener = { phase() {}, second() {}, fault() {}, log, record() {} };
    const { result } = await abortable(signal, executeRun(settings, runtime, lease, listener));
    return {
      isSaturated: isGeneratorSaturated(result),
      requests_per_second: result.requests.average,
    };
  };
}

/**
 * Ends a campaign whose runs are all completed; it may have been killed before it could save that.
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
  const progress = new Progress(eventLog, plan, overheads);
  for (const planned of plan.runs) {
    const outcome = completed.get(planned.file);
    if (outcome) progress.kept(planned, outcome);
  }
  if (manifest.status !== "finished")
    await saveManifest({ ...manifest, status: "finished" }, folder);
  await updateLatestLink(folder).catch((error) => eventLog.warn(messageOf(error)));
  return { folder, outcomes, ...(search ? { search } : {}) };
}

/**
 * Reports what will be measured, where, and how long it takes. @param choice which runtime was
 * chosen, and why
 */
function announceCampaign(
  opened: { campaign: string; folder: string; runtime: string },
  choice: string,
  plan: Plan,
  overheads: Overheads,
  eventLog: EventLog,
): void {
  eventLog.info(choice);
  for (const { asked, reason } of plan.skips) eventLog.info(`skipped ${asked}: ${reason}`);
  for (const note of [...plan.notes, ...(plan.sources ?? [])]) eventLog.info(`note: ${note}`);
  for (const line of costOfOrder(plan, overheads)) eventLog.info(line);
  const { lines, warnings } = decidable(plan);
  for (const line of lines) {
    if (warnings.includes(line)) eventLog.warn(line);
    else eventLog.info(line);
  }
  const { seconds, at_least } = estimateRange(plan, overheads);
  const { objectives } = plan.max_rate ?? {};
  eventLog.emit({
    event: "campaign",
    ...opened,
    runs: plan.runs.length,
    ...(objectives ? { objectives } : {}),
    configurations: plan.configurations,
    runs_per_configuration: plan.runs_per_configuration,
    order: plan.order,
    seed: plan.seed,
    estimate_s: seconds,
    ...(at_least ? { at_least: { runs: at_least.runs, estimate_s: at_least.seconds } } : {}),
    skips: plan.skips,
  });
}
