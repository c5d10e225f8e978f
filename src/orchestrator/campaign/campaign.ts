import { basename, join } from "node:path";
import type { Configuration } from "../../contract/configuration.js";
import { EXIT, type ExitCode, messageOf } from "../../contract/errors.js";
import type { Plan } from "../../contract/plan.js";
import type { MeasuredResult } from "../../contract/result.js";
import { isGeneratorSaturated } from "../../judge/rules/generator.js";
import { HostSpeedProbe } from "../../machine/host-speed.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { ensurePythonEnvironment } from "../../runtimes/local/python-environment.js";
import type { InstalledVersions, Runtime, RuntimeOptions } from "../../runtimes/types.js";
import { AdaptiveRounds, roundDecider } from "../adaptive/rounds.js";
import { Checksums } from "../files/checksums.js";
import {
  createCampaignFolder,
  requireResultsRoot,
  requireWritable,
  timestamp,
  updateLatestLink,
} from "../files/results-folder.js";
import { requireFitMachine } from "../host/doctor.js";
import type { ForeignLoadCheck } from "../host/foreign-load.js";
import { removeLeftovers } from "../host/leftovers.js";
import { isOnThisMachine } from "../host/machine.js";
import type { PythonContext } from "../host/python.js";
import { ensureVersions, requestedVersions } from "../host/versions.js";
import { planOf, withExpectedTrials } from "../max-rate/plan.js";
import { MaxRateSearch } from "../max-rate/search.js";
import { Aborted, abortable } from "../ownership/abort.js";
import { Lease } from "../ownership/lease.js";
import { acquireLock } from "../ownership/state-folder.js";
import { decidable } from "../plan/decidable.js";
import { requestedRuns } from "../plan/decision-rounds.js";
import { estimateRange, learnOverheads, type Overheads, overheadsOf } from "../plan/estimate.js";
import { burnInLines } from "../plan/order.js";
import { type PlanContext, type SelectedConfigurations, selectConfigurations } from "../plan/plan.js";
import { type StoreFindings, storeLayerConfigurations } from "../plan/store-layer.js";
import { mapCaps } from "../request/caps.js";
import { type ExistingCampaign, findCampaign } from "../request/existing-campaign.js";
import type { Request } from "../request/request.js";
import { Progress } from "../run/campaign-progress.js";
import type { ExternalStore } from "../run/layout.js";
import { moduleFiles } from "../run/module-files.js";
import {
  availability,
  type OpenedRuntime,
  openRuntime,
  requireUsablePlacement,
} from "../run/open-runtime.js";
import { registerPlugins, withPluginNotes } from "../run/plugins.js";
import { findingsOf } from "../run/program-run.js";
import { executeRun } from "../run/run.js";
import { discoverStore } from "../run/store.js";
import type { EventLog } from "../ui/event-log.js";
import { atRate, CALIBRATION_WARMUP_S, calibrate, calibrated, withCalibration } from "./calibration.js";
import {
  type CampaignOutcome,
  type CompletedRuns,
  isComplete,
  NO_COMPLETED_RUNS,
  openExistingCampaign,
} from "./completed-runs.js";
import { buildFinalReport, reportInterrupted } from "./final-report.js";
import {
  type GeneratorTrial,
  generatorsNeeded,
  generatorsText,
  hardestLoads,
  withGenerators,
} from "./generators-needed.js";
import { CampaignMachines } from "./machines.js";
import { endSession, resumedManifest, saveManifest, startManifest } from "./manifest.js";
import { RunLoop } from "./run-loop.js";

/** How a campaign ended. */
export interface CampaignEnd {
  exitCode: ExitCode;
  /** Absolute path of its results; absent where it ended before it had a folder. */
  folder?: string;
}

/** What every step of a campaign uses. */
interface CampaignContext {
  packageFolder: string;
  eventLog: EventLog;
  signal: AbortSignal;
  foreignLoad: ForeignLoadCheck;
}

/** Runs a campaign, from the request to the report. @returns the exit code */
export async function runCampaign(request: Request, context: CampaignContext): Promise<ExitCode> {
  const { packageFolder, eventLog, signal, foreignLoad } = context;
  foreignLoad.start();
  const plugins = await registerPlugins(request.plugins);
  // Report errors of the request before anything is searched, built or started.
  const existing = request.resume === undefined ? undefined : findCampaign(request.output, request.resume);
  const requested = existing?.manifest.plan ?? selectConfigurations(request);
  if (!existing) await abortable(signal, requireResultsRoot(request.output));
  await requireUsablePlacement(request);
  if (request.strict) await requireFitMachine(request.runtime, packageFolder);
  for (const notice of request.notices) eventLog.warn(notice);
  for (const line of await removeLeftovers()) eventLog.warn(line);
  // The report needs Python: find out before hours of measuring, not after them.
  await ensurePythonEnvironment(packageFolder, (text) => eventLog.setUp(text), signal);
  const name = existing?.manifest.campaign ?? timestamp(new Date());
  const release = request.allowParallel ? async () => {} : await acquireLock(name);
  try {
    const lease = await Lease.open(name);
    const python = { packageFolder, signal, holdProcess: (pid: number) => lease.holdProcess(pid) };
    try {
      const completedRuns = existing
        ? await openExistingCampaign(existing, lease, eventLog)
        : NO_COMPLETED_RUNS;
      const left: string[] = [];
      const measureContext = { ...context, plugins, lease, python, left };
      const outcome =
        existing && isComplete(existing, completedRuns)
          ? await finishCompleteCampaign(existing, completedRuns, eventLog)
          : await measure(request, requested, existing, completedRuns, measureContext).catch(
              async (error) => {
                if (error instanceof Aborted) await reportInterrupted(error, python, eventLog);
                throw error;
              },
            );
      const code = await buildFinalReport(outcome, python, eventLog);
      return code === EXIT.done && left.length > 0 ? EXIT.environment : code;
    } finally {
      await lease.close();
    }
  } finally {
    await release();
  }
}

const hasFaults = ({ faults }: Request): boolean => faults.some((each) => each.length > 0);

/** What the measuring steps use besides. */
interface MeasureContext extends CampaignContext {
  plugins: readonly LoadedPlugin[];
  lease: Lease;
  python: PythonContext;
  /** Gets a line for what the runtime could not remove. */
  left?: string[];
}

/** Opens the runtime, measures the runs of the plan that are missing, and stops everything that was started. */
async function measure(
  asked: Request,
  requested: Pick<SelectedConfigurations, "configurations">,
  existing: ExistingCampaign | undefined,
  { completed }: CompletedRuns,
  context: MeasureContext,
): Promise<CampaignOutcome> {
  const { packageFolder, eventLog, signal, foreignLoad, lease, python } = context;
  const plugins = context.plugins.map(({ facts }) => facts);
  const now = new Date();
  const versions = await ensureVersions(requestedVersions(requested), {
    signal,
    holdProcess: python.holdProcess,
    onSetupStep: (text) => eventLog.setUp(text),
  });
  const { runtime, choice } = await openRuntimeFor(asked, versions, context, {
    keepsAddresses: hasFaults(asked),
  });
  // The engine builds images outside of this process tree: observe only from here on.
  if (runtime.engine) foreignLoad.start();
  try {
    const external = await discoverStore(asked.storeAccess, runtime);
    const partFaults = hasFaults(asked) ? await runtime.partFaults() : undefined;
    const planContext = {
      available: (id: string) => availability(asked, runtime, external, id),
      caps: runtime.capsApplied ? mapCaps(asked.caps, (caps) => runtime.appliedCaps(caps)) : {},
      external,
      ...(partFaults ? { partFaults } : {}),
    };
    const findings = existing ? undefined : await findingsAt(asked, planContext, runtime, context);
    const calibration =
      asked.calibrates && !existing
        ? await calibrationAt(asked, planContext, runtime, external, context)
        : undefined;
    const atItsRate = calibration ? atRate(asked, calibration.rate_per_second) : asked;
    const generator_trials =
      asked.findsGenerators && !existing
        ? await generatorsAt(atItsRate, planContext, runtime, external, context)
        : undefined;
    const request = generator_trials ? withGenerators(atItsRate, generator_trials.generators) : atItsRate;
    const planned = () => {
      const made = planOf(request, { ...planContext, ...(findings && { findings }) });
      const notes = [...made.notes, ...(generator_trials ? [generatorsText(generator_trials)] : [])];
      const found = generator_trials ? { generator_trials } : {};
      return withPluginNotes({ ...made, ...found, notes }, context.plugins);
    };
    const plan =
      existing?.manifest.plan ?? (calibration ? withCalibration(planned(), calibration) : planned());
    await requireWritable(request.outputFile);
    const folder = existing?.folder ?? (await abortable(signal, createCampaignFolder(request.output, now)));
    await lease.update({ folder });
    eventLog.writeTo(join(folder, "benchmark.log"));
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
    const known = new Map(manifest.max_rate?.trials.map(({ file, status }) => [file, status]));
    const expected = withExpectedTrials(plan, known);
    announceCampaign({ campaign, folder, runtime: runtime.id }, choice, expected, overheads, eventLog);
    for (const condition of manifest.conditions) eventLog.info(`note: ${condition}`);
    await saveManifest(manifest, folder);
    const hostSpeed = isOnThisMachine(runtime) ? new HostSpeedProbe() : undefined;
    // A failure of these must not hide how the campaign ended.
    const warn = (error: unknown) => eventLog.warn(messageOf(error));
    const save = () => saveManifest(manifest, folder).catch(warn);
    try {
      const warning = await foreignLoad.warning(runtime, signal);
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
      const outcomes = await new RunLoop({
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
        ...(hostSpeed && { hostSpeed }),
        ...(machines && { machines }),
      }).runAll();
      if (machines && session) session.links = await abortable(signal, machines.measureClocks());
      manifest.status = "finished";
      const measured = outcomes.filter(({ file, status }) => status !== "failed" && !completed.has(file));
      await learnOverheads(runtime.id, plan, measured);
      return { folder, outcomes, ...(manifest.max_rate ? { search: manifest.max_rate } : {}) };
    } finally {
      endSession(manifest);
      try {
        await lease.releaseAll();
      } finally {
        await hostSpeed?.close();
        await save();
        await updateLatestLink(folder).catch(warn);
      }
    }
  } finally {
    // The report is built although something is left, e.g. on a machine that is gone.
    await runtime.close().catch((error) => {
      context.left?.push(messageOf(error));
      eventLog.warn(messageOf(error));
    });
  }
}

/** Starts each store of the store layer once and asks what it lacks; undefined without that layer. */
async function findingsAt(
  request: Request,
  { available, caps }: Pick<PlanContext, "available" | "caps">,
  runtime: Runtime,
  { eventLog, signal, lease }: MeasureContext,
): Promise<StoreFindings | undefined> {
  if (request.stores.length === 0) return undefined;
  const { configurations } = storeLayerConfigurations(request, { available, ...(caps && { caps }) });
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
  runtime: Runtime,
  external: ExternalStore | undefined,
  { eventLog, signal, lease }: MeasureContext,
): (configuration: Configuration) => Promise<MeasuredResult> {
  return async (configuration) => {
    const settings = {
      configuration,
      seed: request.seed,
      warmupS: CALIBRATION_WARMUP_S,
      workers: request.workers,
      caps: request.caps,
      modules: moduleFiles(request),
      ...(external ? { external } : {}),
    };
    const listener = {
      phase() {},
      second() {},
      fault() {},
      log: (role: string, line: string) => eventLog.programLine(role, line),
    };
    const { result } = await abortable(signal, executeRun(settings, runtime, lease, listener));
    return result;
  };
}

/** Finds the rate of a campaign that names none. */
function calibrationAt(
  request: Request,
  planContext: PlanContext,
  runtime: Runtime,
  external: ExternalStore | undefined,
  context: MeasureContext,
): ReturnType<typeof calibrate> {
  const resultOf = trialsAt(request, runtime, external, context);
  const throughputOf = async (configuration: Configuration): Promise<number> =>
    (await resultOf(configuration)).requests.average;
  const configurations = calibrated(selectConfigurations(request, planContext));
  return calibrate(configurations, throughputOf, (text) => context.eventLog.setUp(text));
}

/** Finds the number of generators of a campaign that leaves it open. */
function generatorsAt(
  request: Request,
  planContext: PlanContext,
  runtime: Runtime,
  external: ExternalStore | undefined,
  context: MeasureContext,
): ReturnType<typeof generatorsNeeded> {
  const resultOf = trialsAt(request, runtime, external, context);
  const trialOf = async (configuration: Configuration): Promise<GeneratorTrial> => {
    const result = await resultOf(configuration);
    return { isSaturated: isGeneratorSaturated(result), requests_per_second: result.requests.average };
  };
  const configurations = hardestLoads(selectConfigurations(request, planContext));
  return generatorsNeeded(configurations, trialOf, (text) => context.eventLog.setUp(text));
}

/** Ends a campaign whose runs are all completed; it may have been killed before it could save that. */
async function finishCompleteCampaign(
  { folder, manifest }: ExistingCampaign,
  { completed, outcomes }: CompletedRuns,
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
  if (manifest.status !== "finished") await saveManifest({ ...manifest, status: "finished" }, folder);
  await updateLatestLink(folder).catch((error) => eventLog.warn(messageOf(error)));
  return { folder, outcomes, ...(search ? { search } : {}) };
}

/** Reports what will be measured, where, and how long it takes. @param choice which runtime was chosen, and why */
function announceCampaign(
  opened: { campaign: string; folder: string; runtime: string },
  choice: string,
  plan: Plan,
  overheads: Overheads,
  eventLog: EventLog,
): void {
  eventLog.info(choice);
  for (const { asked, reason } of plan.skips) eventLog.info(`skipped ${asked}: ${reason}`);
  for (const note of plan.notes) eventLog.info(`note: ${note}`);
  for (const line of burnInLines(plan)) eventLog.info(line);
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

/**
 * Opens the runtime that was requested, in the name of a lease.
 * @throws Aborted, also while the runtime opens; then the runtime is closed as soon as it is open
 */
export async function openRuntimeFor(
  request: Request,
  versions: InstalledVersions | undefined,
  { packageFolder, eventLog, signal, plugins, lease, python }: Omit<MeasureContext, "foreignLoad">,
  { keepsAddresses }: Required<Pick<RuntimeOptions, "keepsAddresses">>,
): Promise<OpenedRuntime> {
  // It may die while it opens.
  if (Object.keys(request.access).length > 0) await lease.update({ access: request.access });
  const opening = openRuntime(request, {
    packageFolder,
    workFolder: lease.workFolder,
    owner: lease.owner,
    campaign: lease.owner.campaign,
    signal,
    plugins,
    versions,
    keepsAddresses,
    hold: python.holdProcess,
    onSetupStep: (text) => eventLog.setUp(text),
  });
  const opened = await abortable(signal, opening).catch(async (error) => {
    const late = await opening.catch(() => undefined);
    await late?.runtime.close();
    throw error;
  });
  await lease.update({ runtime: opened.runtime.id });
  return opened;
}
