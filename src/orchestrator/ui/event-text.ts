import { type Configuration, loadText } from "../../contract/configuration.js";
import { countTexts } from "../../contract/dimensions.js";
import type { EventOf, Phase } from "../../contract/events.js";
import { faultsText } from "../../contract/fault-text.js";
import {
  isClientLayer,
  isProgramLayer,
  type Layer,
  layerDescription,
} from "../../contract/layers.js";
import type { AdaptiveSummary } from "../../contract/summary.js";
import { isSpoiled } from "../../judge/outcome.js";
import { displayPath } from "../../kit/display-path.js";
import { isLongWindow, withLongWindow } from "../../traffic/long-window.js";
import { profiles } from "../../traffic/profiles.js";
import type { CampaignState } from "./campaign-state.js";
import { counted, durationText } from "./text.js";

export const rateUnit = (layer: Layer): string => `${layerDescription(layer).request}s/s`;

/** The layer and load of a run; undefined where the start of the run is not known. */
type LayerAndLoad = Pick<Configuration, "layer" | "load"> | undefined;

const throughputText = (perSecond: number, measured: LayerAndLoad): string =>
  `${Math.round(perSecond)} ${rateUnit(measured?.layer ?? "server")}`;

export const rateText = (perSecond: number): string => `${Math.round(perSecond)}/s`;

export const msText = (ms: number): string => `${ms.toFixed(2)} ms`;

/**
 * A figure as `p99 12.25 ms` or `mean 2.10 ms`, or as `p99 > 30.10 ms` where only a lower bound is
 * known (M23). It is empty where neither is known.
 */
export function percentileText(
  name: string,
  ms: number | null | undefined,
  atLeastMs: number | null | undefined,
): string[] {
  if (ms !== null && ms !== undefined) return [`${name} ${msText(ms)}`];
  return atLeastMs === null || atLeastMs === undefined ? [] : [`${name} > ${msText(atLeastMs)}`];
}

const shareText = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)} %`;

/**
 * Says where the load enters, e.g. `light`, `heavy (20)`, `light on 2 servers by 4 generators`, or
 * `limiter layer`.
 */
export function entryText(configuration: Configuration): string {
  const { layer, workload } = configuration;
  if (isProgramLayer(layer)) return operationText(workload);
  const complexity = workload.complexity === undefined ? "" : ` (${workload.complexity})`;
  const endpoint = workload.endpoint ? `GET ${workload.endpoint.path}` : workload.id;
  const entry = isClientLayer(layer) ? `${layer} layer` : `${endpoint}${complexity}`;
  return [entry, ...countTexts(configuration)].join(" ");
}

/** The limits that differ from those of the traffic profile, e.g. `100 points` or `10 s window`. */
export function limitTexts({ traffic, limits, extent }: Configuration): string[] {
  const profile = profiles.find(({ id }) => id === traffic);
  const defaults = profile && withLongWindow(profile.limits, extent);
  const { points, window_s, block_s, cost = 1 } = limits;

  const texts: string[] = [];
  if (points !== defaults?.points) texts.push(`${points} points`);
  const isDefaultWindow = window_s === defaults?.window_s || isLongWindow(limits, extent);
  if (!isDefaultWindow) texts.push(`${window_s} s window`);
  if (block_s !== defaults?.block_s) texts.push(`${block_s} s block`);
  if (cost !== (defaults?.cost ?? 1)) texts.push(`cost ${cost}`);
  return texts;
}

/**
 * The load with explicit limits and faults, e.g. `50 connections` or `50 connections, 100 points,
 * store-restart`.
 */
export function loadAndLimitsText(configuration: Configuration): string {
  const texts = [loadText(configuration), ...limitTexts(configuration)];
  if (configuration.faults) texts.push(faultsText(configuration.faults));
  return texts.join(", ");
}

const operationText = ({ id, payload_bytes: bytes }: Configuration["workload"]): string =>
  bytes === undefined ? id : `${id} of ${bytes} bytes`;

/** How much is measured, e.g. `30 s` or `5000 requests`. */
export const extentText = ({ extent }: Pick<Configuration, "extent">): string =>
  "duration_s" in extent ? `${extent.duration_s} s` : `${extent.requests} requests`;

/** A configuration as `iovalkey:cluster, light, realistic, 50 connections`. */
export function configurationText(configuration: Configuration): string {
  const { target, traffic, extent } = configuration;
  // The load program draws its own keys, and no limit decides.
  const load = isProgramLayer(configuration.layer)
    ? [loadText(configuration)]
    : [traffic, loadAndLimitsText(configuration)];
  const parts = [target.label, entryText(configuration), ...load];
  if ("requests" in extent) parts.push(extentText(configuration));
  return parts.join(", ");
}

type RunNumber = Pick<EventOf<"run_finished">, "run" | "diagnose">;

export const runNumberText = ({ run, diagnose }: RunNumber): string =>
  diagnose ? "diagnosing run" : `run ${run}`;

/** A run as `iovalkey:cluster, light, realistic, 50 connections, run 2 of 3`. */
export function runText(event: EventOf<"run_started">): string {
  const { configuration, run, runs_per_configuration, at_most, search } = event;
  if (search) return `${configurationText(configuration)}, trial to ${search} the bound`;
  if (event.diagnose) return `${configurationText(configuration)}, ${runNumberText(event)}`;
  const total = `${at_most ? "at most " : ""}${runs_per_configuration}`;
  return `${configurationText(configuration)}, run ${run} of ${total}`;
}

export const roundText = ({ round, of, runs }: EventOf<"round_started">): string =>
  `round ${round} of ${of}: ${counted(runs.length, "run")} by turns`;

const PHASES: Partial<Record<Phase, string>> = {
  starting: "starting the parts",
  "store ready": "the store is ready",
  "server ready": "starting the load generator",
  connected: "connected, reading counters",
  warmup: "warm-up",
  drained: "drained, reading counters",
  finished: "measured, waiting for the result",
  read: "stopping the parts",
  stopped: "saving",
  report: "building the report",
};

export const phaseText = (phase: Phase): string => PHASES[phase] ?? phase;

/** What tells a run from the others of its round, which is also its load in a load curve. */
function nameInRound(state: CampaignState, { target, load, layer }: Configuration): string {
  const runs = (state.round?.runs ?? []).flatMap((number) => state.startOf(number) ?? []);
  const sameTarget = runs.filter(({ configuration }) => configuration.target.text === target.text);
  return sameTarget.length > 1 ? `${target.label}, ${loadText({ layer, load })}` : target.label;
}

/**
 * The live figures of a second, without those that were not measured. By turns they begin with what
 * tells their run from the others.
 */
export function secondPieces(second: EventOf<"second">, state: CampaignState): string[] {
  const measured = state.startOf(second.number)?.configuration;
  const { limited_share, p99_ms, generator_event_loop_utilisation: generator } = second;
  const { server_event_loop_utilisation: server, server_cpu_percent: cpu } = second;
  const name = state.round && measured ? `${nameInRound(state, measured)}: ` : "";

  const pieces = [`${name}${throughputText(second.requests_per_second, measured)}`];
  if (p99_ms !== undefined) pieces.push(`p99 ${msText(p99_ms)}`);
  if (limited_share !== undefined) pieces.push(`${shareText(limited_share, 1)} limited`);
  if (generator !== undefined) pieces.push(`generator ${shareText(generator)} busy`);
  if (server !== undefined) {
    const cpuText = cpu === undefined ? "" : ` (CPU ${cpu.toFixed(0)} %)`;
    pieces.push(`server ${shareText(server)} busy${cpuText}`);
  }
  return pieces;
}

/**
 * The reasons of a run's verdict. By turns the runs of a group share some of them, so a reason that
 * an earlier run of the group has is shown by its rule alone.
 */
function reasonsText(
  { reasons, round, file }: EventOf<"run_finished">,
  state: CampaignState,
): string {
  const runsOfRound = state.round ? state.finished.filter((run) => run.round === round) : [];
  const index = runsOfRound.findIndex((run) => run.file === file);
  const earlierRuns = runsOfRound.slice(0, index < 0 ? undefined : index);
  const earlierReasons = earlierRuns.flatMap((run) => run.reasons);

  const texts = reasons.map(({ rule, text }) => {
    const isShown = earlierReasons.some((reason) => reason.rule === rule && reason.text === text);
    return isShown ? rule : `${rule} ${text}`;
  });
  return texts.join("; ");
}

/**
 * The status as `valid`, or as `valid · overloaded: …` with the text of the outcome. That text is
 * left out where a reason of the verdict holds it.
 */
function statusText(finished: EventOf<"run_finished">): string {
  const { status, outcome, outcome_text: outcomeText, reasons } = finished;
  if (!isSpoiled(finished)) return status;

  const isInReasons =
    outcomeText === undefined || reasons.some(({ text }) => text.includes(outcomeText));
  return `${status} · ${outcome}${isInReasons ? "" : `: ${outcomeText}`}`;
}

/** Says how a run ended, by its figures, verdict, outcome and reasons. */
export function finishedText(
  finished: EventOf<"run_finished">,
  measured: LayerAndLoad,
  state: CampaignState,
): string {
  const { figures, status } = finished;
  if (!figures) return finished.reasons.map(({ text }) => text).join("; ") || status;

  const { limited_share, server_cpu_us_per_request: cpu } = figures;
  // A cost holds at the load where it was measured (M35); a rate is named beside the run.
  const atLoad = measured?.load.model === "closed" ? " at full load" : "";
  const pieces = [throughputText(figures.requests_per_second, measured)];
  // At full load the mean latency follows from the throughput.
  if (measured?.load.model === "open")
    pieces.push(...percentileText("mean", figures.mean_ms, figures.mean_at_least_ms));
  pieces.push(...percentileText("p50", figures.p50_ms, figures.p50_at_least_ms));
  pieces.push(...percentileText("p99", figures.p99_ms, figures.p99_at_least_ms));
  if (limited_share !== undefined) pieces.push(`${shareText(limited_share, 1)} limited`);
  if (cpu !== undefined) pieces.push(`server ${cpu.toFixed(0)} µs CPU per request${atLoad}`);

  const reasons = reasonsText(finished, state);
  return `${pieces.join(", ")} — ${statusText(finished)}${reasons ? ` (${reasons})` : ""}`;
}

/** The text of `finishedText`; by turns it begins with the label of the target. */
export function endText(finished: EventOf<"run_finished">, state: CampaignState): string {
  const { round, started } = state;
  const configuration = started.get(finished.file)?.configuration;
  const text = finishedText(finished, configuration, state);
  return round ? `${configuration?.target.label ?? finished.file}: ${text}` : text;
}

/**
 * A finished run on one line, e.g. `[3/12] iovalkey, light, realistic, 50 connections, run 1: 5000
 * requests/s, p99 12.25 ms, suspect (M8); 2 min left`.
 */
export function runLine(finished: EventOf<"run_finished">, state: CampaignState): string {
  const configuration = state.started.get(finished.file)?.configuration;
  const { number, of, file, figures, status, reasons, time_left_s } = finished;
  const subject = configuration
    ? `${configurationText(configuration)}, ${runNumberText(finished)}`
    : file;
  const rules = [...new Set(reasons.map(({ rule }) => rule))].join(", ");
  const verdict = rules ? `${status} (${rules})` : status;
  const result = figures
    ? [
        throughputText(figures.requests_per_second, configuration),
        ...percentileText("p99", figures.p99_ms, figures.p99_at_least_ms),
        isSpoiled(finished) ? `${verdict} · ${finished.outcome}` : verdict,
      ].join(", ")
    : finishedText(finished, configuration, state);
  return `[${number}/${of}] ${subject}: ${result}; ${durationText(time_left_s)} left`;
}

/** Says what an adaptive campaign decided after a round. */
export function lookText({ round, go_on, done }: EventOf<"look">): string {
  const finished = done
    .map(({ label, load, reason }) => `${label}, ${load} (${reason})`)
    .join("; ");
  const remaining =
    go_on === 0
      ? "all are done"
      : `${counted(go_on, "configuration")} ${go_on === 1 ? "continues" : "continue"}`;
  return `after round ${round}: ${remaining}${finished ? `; done: ${finished}` : ""}`;
}

export function adaptiveLines({ sentence, concluded, not_concluded }: AdaptiveSummary): string[] {
  return [
    sentence,
    ...concluded.map((text) => `concluded: ${text}`),
    ...not_concluded.map((text) => `not decided: ${text}`),
  ];
}

/**
 * A campaign in one sentence, e.g. `3 runs of 1 configuration, interleaved, about 12 s; seed 1;
 * results in …`.
 * @param length how long the campaign takes
 */
export function campaignText(event: EventOf<"campaign">, length: string): string {
  const { at_least, objectives } = event;
  const mostRuns = counted(event.runs, "run");
  const runs =
    at_least && at_least.runs < event.runs ? `${at_least.runs} to ${mostRuns}` : mostRuns;
  const configurations = counted(event.configurations.length, "configuration");
  const counts = objectives
    ? `search for the highest rate that keeps ${objectives.join(", ")}: about ${runs} for ${configurations}`
    : `${runs} of ${configurations}`;
  const times =
    at_least && durationText(at_least.estimate_s) !== length
      ? `${durationText(at_least.estimate_s)} to ${length}`
      : length;
  return `${counts}, ${event.order}, about ${times}; seed ${event.seed}; results in ${displayPath(event.folder)}`;
}
