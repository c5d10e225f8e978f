import type { Configuration } from "../../contract/configuration.js";
import type { Plan } from "../../contract/plan.js";
import { isGeneratorSaturated } from "../../judge/rules/generator.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import type { PartFaults, Runtime } from "../../runtimes/runtime-types.js";
import { planOf } from "../max-rate/searched-rates.js";
import { abortable } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { type PlanContext, selectConfigurations } from "../plan/make-plan.js";
import { moduleFiles } from "../plan/module-files.js";
import { type StoreFindings, storeLayerConfigurations } from "../plan/store-layer.js";
import type { Request } from "../request/request.js";
import { executeRun } from "../run/execute-run.js";
import type { ExternalStore } from "../run/run-settings.js";
import type { StoreAuthority } from "../run/store/store-authority.js";
import { findingsOf } from "../run/store/store-findings.js";
import type { EventLog } from "../ui/event-log.js";
import {
  atRate,
  CALIBRATION_WARMUP_S,
  calibrate,
  calibrated,
  withCalibration,
} from "./calibration.js";
import { appLines, startedApp } from "./campaign-apps.js";
import { atRates, type ChosenRates, chooseRates, withChosenRates } from "./curve-rates.js";
import {
  type GeneratorTrial,
  generatorsNeeded,
  hardestLoads,
  withGenerators,
  withGeneratorTrials,
} from "./generator-trials.js";
import { withSources } from "./used-plugins.js";

/** What is known of the place where a campaign measures, before it has a plan. */
export interface CampaignPlace {
  planContext: PlanContext;
  external: ExternalStore | undefined;
  partFaults: PartFaults | undefined;
  /** The authority that vouches for encrypted stores; undefined where none is encrypted. */
  authority: StoreAuthority | undefined;
}

export interface PlanningContext {
  runtime: Runtime;
  lease: Lease;
  eventLog: EventLog;
  signal: AbortSignal;
  plugins: readonly LoadedPlugin[];
}

/**
 * Makes the plan of a new campaign. It first measures what the plan needs, which are the features of
 * stores, the rate and the number of generators.
 * @returns the plan, and the request with the rate and generators found
 */
export async function findPlan(
  requested: Request,
  place: CampaignPlace,
  context: PlanningContext,
): Promise<{ request: Request; plan: Plan }> {
  const { planContext } = place;
  const tell = (text: string) => context.eventLog.setUp(text);
  const findings = await storeFindings(requested, place, context);
  const trialOf = trialsOf(requested, place, context);

  const throughputOf = async (configuration: Configuration) =>
    (await trialOf(configuration)).requests_per_second;
  const calibration = requested.load.calibrates
    ? await calibrate(calibrated(selectConfigurations(requested, planContext)), throughputOf, tell)
    : undefined;
  const chosen = requested.load.curve?.choosesRates
    ? await chooseRates(
        calibrated(selectConfigurations(requested, planContext)),
        throughputOf,
        tell,
      )
    : undefined;
  const withRate = withFoundRates(requested, calibration?.rate_per_second, chosen);

  const generatorTrials = requested.entries.findsGenerators
    ? await generatorsNeeded(
        hardestLoads(selectConfigurations(withRate, planContext)),
        trialOf,
        tell,
      )
    : undefined;
  const request = generatorTrials ? withGenerators(withRate, generatorTrials.generators) : withRate;

  let plan = planOf(request, { ...planContext, ...definedOnly({ findings }) });
  if (generatorTrials) plan = withGeneratorTrials(plan, generatorTrials);
  plan = withSources(plan, context.plugins, await appLines(request.apps));
  if (calibration) plan = withCalibration(plan, calibration);
  if (chosen) plan = withChosenRates(plan, chosen);
  return { request, plan };
}

function withFoundRates(
  request: Request,
  rate: number | undefined,
  chosen: ChosenRates | undefined,
): Request {
  if (chosen) return atRates(request, chosen.rates);
  return rate === undefined ? request : atRate(request, rate);
}

/**
 * Starts each store of the store layer once and asks which features are missing; undefined without
 * that layer.
 */
async function storeFindings(
  request: Request,
  { planContext, authority }: CampaignPlace,
  { eventLog, signal, lease, runtime }: PlanningContext,
): Promise<StoreFindings | undefined> {
  if (request.storeLayer.stores.length === 0) return undefined;
  const { available, caps } = planContext;
  const { configurations } = storeLayerConfigurations(request, {
    available,
    ...definedOnly({ caps }),
  });
  const byStore = new Map(
    configurations.map(({ configuration }) => [configuration.target.store, configuration]),
  );
  const settings = [...byStore.values()].map((configuration) => ({
    configuration,
    seed: 0,
    warmupS: 0,
    workers: 1,
    caps: request.place.caps,
    ...definedOnly({ authority }),
  }));
  const log = (role: string, line: string) => eventLog.programLine(role, line);
  return abortable(signal, findingsOf(settings, { runtime, lease, log }));
}

/** A function that makes one run of a configuration before the campaign, outside of all reports. */
function trialsOf(
  request: Request,
  { external, authority }: CampaignPlace,
  { eventLog, signal, lease, runtime }: PlanningContext,
): (configuration: Configuration) => Promise<GeneratorTrial> {
  const { seed } = request.rounds;
  const { workers, caps } = request.place;
  const log = (role: string, line: string) => eventLog.programLine(role, line);
  const listener = { phase() {}, second() {}, fault() {}, log, record() {} };

  return async (configuration) => {
    const settings = {
      configuration,
      seed,
      workers,
      caps,
      warmupS: CALIBRATION_WARMUP_S,
      modules: moduleFiles(request.place.programs),
      ...definedOnly({ external, authority, app: startedApp(request.apps, configuration.target) }),
    };
    const { result } = await abortable(signal, executeRun(settings, runtime, lease, listener));
    return {
      isSaturated: isGeneratorSaturated(result),
      requests_per_second: result.requests.average,
    };
  };
}
