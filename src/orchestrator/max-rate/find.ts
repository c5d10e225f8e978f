import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { type Configuration, type Limits, RATE_RANGE } from "../../contract/configuration.js";
import { byDimension } from "../../contract/dimensions.js";
import { BenchError, EXIT, type ExitCode, messageOf } from "../../contract/errors.js";
import { connectionsText, isClientLayer, type Layer } from "../../contract/layers.js";
import type { Threshold } from "../../contract/manifest.js";
import { planSchema } from "../../contract/plan.js";
import { type MeasuredResult, resultSchema } from "../../contract/result.js";
import { isSpoiled } from "../../judge/outcome.js";
import type { CampaignEnd } from "../campaign/campaign.js";
import { writeAtomically } from "../files/results-folder.js";
import { selectConfigurations } from "../plan/plan.js";
import type { Request } from "../request/request.js";
import { entryText, limitTexts } from "../ui/event-text.js";
import { missReason } from "./objective.js";
import { type MaxRate, RateSearch, type SearchRange, type Trial } from "./search.js";

/** How close the confirmed and the missed rate get. */
const RESOLUTION = 0.02;
/** Seconds for which a rate must be kept before it is accepted, unless a fixed duration was requested. */
const CONFIRMATION_S = 30;
/** The length of a probe as a share of a confirmation. */
const PROBE_SHARE = 1 / 3;
const MIN_PROBE_S = 2;

/** The result of the search for one configuration. */
interface MaxRateResult extends MaxRate {
  label: string;
  layer: Layer;
  /** On the one store; 0 at the limiter layer. */
  servers: number;
  workload: string;
  traffic: string;
  connections: number;
  limits: Limits;
  objectives: string[];
  /** The limit at the lowest missed rate; absent where none was missed. */
  limited_by?: { resource: string; text: string };
  /** Why the search stopped early; absent where it did not. */
  stopped?: string;
}

/** Runs one campaign. */
type RunCampaign = (request: Request) => Promise<CampaignEnd>;

/** The part of a manifest that is needed here. */
const manifestSchema = z.object({ plan: planSchema });

/** The rates that a search tries. */
export function searchRange({ rates }: Pick<Request, "rates">): SearchRange {
  const [from = RATE_RANGE.min] = rates;
  return { ...RATE_RANGE, from, resolution: RESOLUTION };
}

/** The measured seconds of a trial, by kind. */
export function trialSeconds({ duration }: Pick<Request, "duration">): Record<Trial["kind"], number> {
  const confirmation = duration.mode === "fixed" ? duration.seconds : CONFIRMATION_S;
  return { probe: Math.max(MIN_PROBE_S, Math.round(confirmation * PROBE_SHARE)), confirmation };
}

/** The request of one trial: one run of one configuration at one rate. */
function trialRequest(
  request: Request,
  configuration: Configuration,
  trial: Pick<Trial, "rate_per_second" | "kind">,
): Request {
  const { layer, target, workload, traffic, load, limits } = configuration;
  // Its one target is compared with nothing.
  const { reference: _, ...settings } = request;
  return {
    ...settings,
    clients: [target.text],
    layers: [layer],
    counts: byDimension(({ key }) => [configuration[key]]),
    // At the limiter layer there is no workload, whatever is requested.
    ...(!isClientLayer(layer) ? { workloads: [workload.id] } : {}),
    traffic: [traffic],
    limits: {
      points: [limits.points],
      windowsS: [limits.window_s],
      costs: [limits.cost ?? 1],
      blockS: limits.block_s,
    },
    connections: [load.connections],
    rates: [trial.rate_per_second],
    runs: 1,
    duration: { mode: "fixed", seconds: trialSeconds(request)[trial.kind] },
    trial: true,
    outputMode: { ...request.outputMode, format: "text", detail: "quiet" },
    // Notices about the request are not repeated for each trial.
    notices: [],
  };
}

/** The result of a trial's only run. @throws BenchError when the run has no figures */
async function readTrialResult(folder: string): Promise<MeasuredResult> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, name), "utf8"));
  const { plan } = manifestSchema.parse(await read("manifest.json"));
  const [run] = plan.runs;
  const result = resultSchema.parse(await read(run?.file ?? ""));
  if (result.status === "measured") return result;
  if (result.status === "printed") throw new Error("a search does not run at the store layer");
  const { role, text } = result.failure;
  throw new BenchError(`the search ends: ${role}: ${text}`, EXIT.configurationFailed);
}

/** The campaign of a trial did not measure, e.g. because it was interrupted. */
class TrialFailed extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/**
 * The result of a trial's campaign. A rate that is too high gives a run that is invalid, because its schedule was not kept,
 * or one that the target did not serve.
 * @throws TrialFailed or BenchError when the campaign has no figures
 */
async function trialResult({ exitCode, folder }: CampaignEnd): Promise<MeasuredResult> {
  const isMeasured = exitCode === EXIT.done || exitCode === EXIT.runsInvalid;
  if (folder === undefined || !(isMeasured || exitCode === EXIT.configurationFailed))
    throw new TrialFailed(exitCode);
  if (isMeasured) return readTrialResult(folder);
  const result = await readTrialResult(folder).catch((error) => {
    // A result that could not be saved is one reason for this exit code.
    throw error instanceof BenchError ? error : new TrialFailed(exitCode);
  });
  if (!isSpoiled(result)) throw new TrialFailed(exitCode);
  return result;
}

/** The label of each configuration's target, with what tells configurations of one target apart. */
function namesOf(configurations: readonly Configuration[]): string[] {
  return configurations.map((configuration) => {
    const { target, layer, traffic, load } = configuration;
    if (configurations.filter((other) => other.target.label === target.label).length === 1)
      return target.label;
    const connections = connectionsText(layer, load.connections);
    const limits = limitTexts(configuration);
    return [target.label, entryText(configuration), traffic, `up to ${connections}`, ...limits].join(", ");
  });
}

/** Searches the highest rate of one configuration. @param name for messages @returns what is known, and what stopped the search if it was */
async function searchConfiguration(
  request: Request,
  objectives: readonly Threshold[],
  configuration: Configuration,
  name: string,
  runCampaign: RunCampaign,
  say: (text: string) => void,
): Promise<{ result: MaxRateResult; cause?: unknown }> {
  const { target, layer, servers, workload, traffic, load } = configuration;
  const limits = new Map<number, MeasuredResult["limited_by"]>();
  const search = new RateSearch(searchRange(request), async (rate_per_second, kind) => {
    const end = await runCampaign(trialRequest(request, configuration, { rate_per_second, kind }));
    const result = await trialResult(end);
    const reason = missReason(result, objectives);
    if (reason) limits.set(rate_per_second, result.limited_by);
    say(`${name}: ${kind} of ${rate_per_second}/s: ${reason === "" ? "met" : `missed (${reason})`}`);
    return { isMet: reason === "", reason, campaign: basename(end.folder ?? "") };
  });
  const ended = await search.run().then(
    () => ({}),
    (cause: unknown) => ({ cause, stopped: messageOf(cause) }),
  );
  const { result: maxRate } = search;
  const limited_by =
    maxRate.missed_per_second === undefined ? undefined : limits.get(maxRate.missed_per_second);
  return {
    result: {
      label: target.label,
      layer,
      servers,
      workload: workload.id,
      traffic,
      connections: load.connections,
      limits: configuration.limits,
      objectives: objectives.map(({ text }) => text),
      ...maxRate,
      ...(limited_by ? { limited_by } : {}),
      ...("stopped" in ended ? { stopped: ended.stopped } : {}),
    },
    ...("cause" in ended ? { cause: ended.cause } : {}),
  };
}

/** Why the lowest missed rate was missed. */
const lastMissReason = ({ trials, missed_per_second: missed }: MaxRate): string | undefined =>
  trials.findLast(({ rate_per_second }) => rate_per_second === missed)?.reason;

/** One line for a search that was stopped. */
function partialResultText(name: string, { objectives, ...rates }: MaxRateResult): string {
  const { confirmed_per_second: confirmed, probed_per_second: probed, missed_per_second: missed } = rates;
  const limits = objectives.join(", ");
  const known = [
    ...(confirmed === undefined ? [] : [`${confirmed}/s keeps ${limits}`]),
    ...(probed === undefined ? [] : [`${probed}/s keeps ${limits} in a probe, not confirmed`]),
    ...(missed === undefined ? [] : [`${missed}/s does not keep ${limits} (${lastMissReason(rates)})`]),
  ];
  return `${name}: so far: ${known.join("; ") || "no result yet"}`;
}

/** One line for each configuration: the rate, the lowest missed rate, and what limited it. */
function resultText(name: string, result: MaxRateResult): string {
  const { objectives, limited_by, stopped, ...rates } = result;
  if (stopped !== undefined) return partialResultText(name, result);
  const { confirmed_per_second: confirmed, missed_per_second: missed } = rates;
  const limits = objectives.join(", ");
  if (confirmed === undefined) return `${name}: not even ${missed}/s keeps ${limits}`;
  const bound =
    missed === undefined ? "no higher rate was tried" : `${missed}/s does not (${lastMissReason(rates)})`;
  return `${name}: ${confirmed}/s keeps ${limits}; ${bound}${limited_by ? `; limited by: ${limited_by.resource} (${limited_by.text})` : ""}`;
}

/**
 * Finds the highest rate at which each configuration of a request keeps the objectives. Each trial is a campaign of
 * one run with its own folder. Writes `max-rate.json` into the results root, also for a search that stops early.
 * @returns the exit code; that of the first trial that failed
 * @throws BenchError for what a campaign throws
 */
export async function findMaxRates(
  request: Request,
  objectives: readonly Threshold[],
  runCampaign: RunCampaign,
  print: (text: string) => void,
): Promise<ExitCode> {
  const isJson = request.outputMode.format === "json";
  const say = isJson ? () => {} : print;
  const configurations = selectConfigurations(request).configurations.map((each) => each.configuration);
  const names = namesOf(configurations);
  const results: MaxRateResult[] = [];
  let cause: unknown;
  for (const [index, configuration] of configurations.entries()) {
    const name = names[index] ?? "";
    const searched = await searchConfiguration(request, objectives, configuration, name, runCampaign, say);
    results.push(searched.result);
    cause = searched.cause;
    if (results.some(({ trials }) => trials.length > 0))
      await writeAtomically(
        resolve(request.output, "max-rate.json"),
        `${JSON.stringify({ command: request.command, found: results }, null, 2)}\n`,
      );
    if (cause !== undefined) break;
  }
  if (isJson) print(JSON.stringify(results));
  for (const [index, result] of results.entries()) say(resultText(names[index] ?? "", result));
  if (cause === undefined) return EXIT.done;
  if (cause instanceof TrialFailed) return cause.exitCode;
  throw cause;
}
