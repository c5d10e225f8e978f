import { join } from "node:path";
import { movableFigures } from "../../contract/latency-figures.js";
import { isClientLayer, layerDescription } from "../../contract/layers.js";
import type { MaxRateState, Threshold } from "../../contract/manifest.js";
import { type Plan, type PlannedRun, plannedConfiguration } from "../../contract/plan.js";
import { type MeasuredResult, type Result, resultSchema } from "../../contract/result.js";
import { failedShare } from "../../judge/counts.js";
import { atLeast } from "../../judge/latency.js";
import { isSpoiled } from "../../judge/outcome.js";
import { rounded } from "../../kit/numbers.js";
import type { RunSelection, SelectionOptions } from "../adaptive/rounds.js";
import { readOwnFile } from "../files/own-files.js";
import { REPORT_S, runS } from "../plan/estimate.js";
import { parseThresholds } from "../request/thresholds.js";
import { cpuUsPerRequest, type RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";
import {
  nextRuns,
  rateOf,
  subjectName,
  trialRankings,
  withExpectedTrials,
} from "./searched-rates.js";

type Metric = Threshold["metric"];
const noFigure = (): undefined => undefined;
type TrialRecord = MaxRateState["trials"][number];

/**
 * The figure of a run for each metric. It is null where requests without an answer could move it,
 * and undefined where the run has no such figure.
 */
const FIGURES: Readonly<Record<Metric, (result: MeasuredResult) => number | null | undefined>> = {
  throughput: ({ requests }) => requests.average,
  p50: ({ latency }) => latency?.p50,
  p90: ({ latency }) => latency?.p90,
  p95: ({ latency }) => latency?.p95,
  p99: ({ latency }) => latency?.p99,
  p99_9: ({ latency }) => latency?.p99_9,
  errors: ({ counts }) => failedShare(counts),
  limited_share: ({ counts, requests }) =>
    requests.total > 0 ? counts.limited / requests.total : undefined,
  // The CPU time of the program that calls the limiter.
  cpu: (result) =>
    cpuUsPerRequest(result, isClientLayer(result.request.layer) ? "generator" : "server"),
  // Cores at a rate come from a load curve, and a search refuses them.
  server_cores: noFigure,
  store_cores: noFigure,
  service_cores: noFigure,
};

/** The rounding error of shares, so that a value on the edge of its tolerance is within it. */
const SLACK = 1e-9;

const IS_MET: Readonly<Record<Threshold["op"], (figure: number, objective: Threshold) => boolean>> =
  {
    "<": (figure, { value }) => figure < value,
    "<=": (figure, { value }) => figure <= value,
    ">": (figure, { value }) => figure > value,
    ">=": (figure, { value }) => figure >= value,
    "=": (figure, { value, tolerance = 0 }) => Math.abs(figure - value) <= tolerance + SLACK,
  };

/** The least value that a percentile without a figure can have, as `> 30.1`. */
function leastText({ latency }: MeasuredResult, metric: Metric): string {
  const name = movableFigures.find((figure) => figure === metric);
  return latency && name ? `> ${Number(atLeast(latency, name).toPrecision(4))}` : "no figure";
}

/**
 * The least share of its schedule that a run must send. With less it measures another rate than the
 * requested one.
 */
const MIN_SENT_SHARE = 0.99;
/** The rule of the verdict that objectives replace, because their latency includes late sends. */
const REPLACED_RULE = "M5";

/**
 * Why a run missed the objectives; empty where it met them. An objective for errors replaces the
 * limit of M24.
 */
function missReason(result: MeasuredResult, objectives: readonly Threshold[]): string {
  const { offered = 0, sent = 0 } = result.schedule ?? {};
  if (offered === 0 || sent < MIN_SENT_SHARE * offered)
    return `${sent} of ${offered} ${layerDescription(result.request.layer).request}s were sent`;
  const judgesErrors = objectives.some(({ metric }) => metric === "errors");
  if (isSpoiled(result) && !(result.outcome === "failed" && judgesErrors))
    return `${result.outcome}: ${result.outcome_text}`;

  const missed = objectives.flatMap((objective) => {
    const figure = FIGURES[objective.metric](result);
    if (figure === undefined) return [`${objective.text}: no figure`];
    if (figure === null) return [`${objective.text}: ${leastText(result, objective.metric)}`];
    if (IS_MET[objective.op](figure, objective)) return [];
    return [`${objective.text}: ${Number(figure.toPrecision(4))}`];
  });
  return missed.join(", ");
}

/** The status of a trial by its result, which is `void` where the measurement is broken. */
export function judgeTrial(
  result: MeasuredResult,
  objectives: readonly Threshold[],
): Omit<TrialRecord, "file"> {
  const broken = result.verdict.reasons.find(
    ({ severity, rule }) => severity === "invalid" && rule !== REPLACED_RULE,
  );
  if (broken) return { status: "void", reason: `${broken.rule} ${broken.text}` };
  const reason = missReason(result, objectives);
  return { status: reason ? "missed" : "kept", reason };
}

interface MaxRateSearchOptions extends SelectionOptions {
  folder: string;
  eventLog: Pick<EventLog, "emit" | "info" | "warn">;
}

/**
 * Searches the highest rate at which each subject keeps the objectives (M30). Trials depend on the
 * results alone, so that a resumed search continues as it would have.
 */
export class MaxRateSearch implements RunSelection {
  readonly #options: MaxRateSearchOptions;
  readonly #plan: Plan;
  readonly #objectives: readonly Threshold[];
  readonly #state: MaxRateState;
  readonly #givenUp = new Set<string>();

  private constructor(options: MaxRateSearchOptions) {
    const { manifest, progress } = options;
    const { max_rate: search } = manifest.plan;
    if (!search) throw new Error("this plan is no search");
    this.#options = options;
    this.#plan = manifest.plan;
    this.#objectives = parseThresholds("--slo", search.objectives.join(","));
    // An earlier end is dropped, because a resumed campaign measures failed runs again and then
    // searches on.
    this.#state = { trials: [], spent_s: manifest.max_rate?.spent_s ?? 0 };
    manifest.max_rate = this.#state;
    if (search.budget_s !== undefined) progress.limitTime(search.budget_s - this.#state.spent_s);
  }

  /** The search after the trials that earlier sessions have measured. */
  static async open(options: MaxRateSearchOptions): Promise<MaxRateSearch> {
    const search = new MaxRateSearch(options);
    for (const { file } of search.#plan.runs) {
      if (options.completed.has(file)) search.#state.trials.push(await search.#read(file));
    }
    search.#planMore();
    return search;
  }

  async isNeeded(planned: PlannedRun): Promise<boolean> {
    if (this.#options.completed.has(planned.file)) return true;
    if (!this.#state.ended && this.#exceedsBudget(planned)) this.#state.ended = { why: "budget" };
    return this.#state.ended === undefined;
  }

  async finished({ file, status, seconds }: RunOutcome, pauseS: number): Promise<void> {
    this.#state.spent_s = rounded(this.#state.spent_s + seconds + pauseS, 3);
    const trial = status === "failed" ? failedTrial(file) : await this.#read(file);
    this.#state.trials.push(trial);
    this.#options.eventLog.info(this.#trialText(trial));
    this.#planMore();
    await this.#options.save();
  }

  async end(): Promise<void> {
    this.#state.ended ??= { why: "done" };
    // Runs that the budget left out are no part of the plan, so that nothing is missing.
    const statuses = this.#statuses;
    const { runs } = this.#plan;
    const measured = runs.filter(({ file }) => statuses.has(file));
    runs.splice(0, runs.length, ...measured);
    this.#announce();
    await this.#options.save();
  }

  get #statuses(): Map<string, TrialRecord["status"]> {
    return new Map(this.#state.trials.map(({ file, status }) => [file, status]));
  }

  async #read(file: string): Promise<TrialRecord> {
    const text = readOwnFile(join(this.#options.folder, file))?.toString("utf8") ?? "";
    const result: Result = resultSchema.parse(JSON.parse(text));
    if (result.status !== "measured") return failedTrial(file);
    return { file, ...judgeTrial(result, this.#objectives) };
  }

  #planMore(): void {
    const statuses = this.#statuses;
    if (this.#plan.runs.every(({ file }) => statuses.has(file))) {
      const { configurations, runs, givenUp } = nextRuns(this.#plan, statuses);
      this.#plan.configurations.push(...configurations);
      this.#plan.rankings = trialRankings(this.#plan);
      this.#plan.runs.push(...runs);
      this.#warnOf(givenUp);
    }
    this.#announce();
  }

  /** Warns once for each subject that its search was given up. */
  #warnOf(givenUp: readonly string[]): void {
    for (const text of givenUp) {
      if (this.#givenUp.has(text)) continue;
      this.#givenUp.add(text);
      this.#options.eventLog.warn(text);
    }
  }

  #announce(): void {
    const { eventLog, progress } = this.#options;
    const { runs } = this.#state.ended
      ? this.#plan
      : withExpectedTrials(this.#plan, this.#statuses);
    progress.expect(runs);
    eventLog.emit({ event: "planned", runs: runs.length, time_left_s: progress.timeLeftS() });
  }

  /** Whether a trial would exceed the budget. The first trial takes place in any case. */
  #exceedsBudget({ configuration_hash }: PlannedRun): boolean {
    const { budget_s } = this.#plan.max_rate ?? {};
    if (budget_s === undefined || this.#state.trials.length === 0) return false;
    const { cooldown_s } = this.#plan;
    const { configuration } = plannedConfiguration(this.#plan, configuration_hash);
    const trial_s = cooldown_s + runS(this.#plan, configuration, this.#options.overheads);
    return this.#state.spent_s + trial_s + REPORT_S > budget_s;
  }

  /** A trial as `iovalkey at 1600/s: missed (p99<10ms: 50)`. */
  #trialText({ file, status, reason }: TrialRecord): string {
    const planned = this.#plan.runs.find((run) => run.file === file);
    const { configuration } = plannedConfiguration(this.#plan, planned?.configuration_hash ?? "");
    const statusText = status === "void" ? "does not count" : status;
    const name = `${subjectName(this.#plan, configuration)} at ${rateOf(configuration)}/s`;
    return `${name}: ${statusText}${reason ? ` (${reason})` : ""}`;
  }
}

const failedTrial = (file: string): TrialRecord => ({
  file,
  status: "void",
  reason: "the run failed",
});
