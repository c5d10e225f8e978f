import type { Configuration } from "../../contract/configuration.js";
import type { EventOf, Phase, RunStatus } from "../../contract/events.js";
import {
  countedRuns,
  type Plan,
  type PlannedRun,
  plannedConfiguration,
} from "../../contract/plan.js";
import { hasFigures, type MeasuredResult, type Result } from "../../contract/result.js";
import { atLeast } from "../../judge/latency.js";
import { definedOnly } from "../../kit/defined-only.js";
import { mean, rounded, sum } from "../../kit/numbers.js";
import { targetsOfCurve } from "../plan/curve-groups.js";
import { estimateCampaignS, type Overheads } from "../plan/estimate.js";
import type { RunListener } from "../run/execute-run.js";
import { cpuUsPerRequest, type RunOutcome } from "../run/result-documents.js";
import type { EventLog } from "../ui/event-log.js";

/**
 * Estimates the time that is left. The plan's estimate for the remaining runs is corrected by how
 * far finished runs were off, by topology where one is finished. Times are seconds of any monotonic
 * clock.
 */
export class TimeLeft {
  readonly #plan: Plan;
  readonly #overheads: Overheads;
  #topologies: ReadonlyMap<string, string> = new Map();
  #pending: readonly PlannedRun[] = [];
  /** The files of runs that have begun, or do not take place. */
  readonly #settledFiles = new Set<string>();
  /** The seconds that finished runs took beyond their estimate, by topology. */
  readonly #excesses = new Map<string, number[]>();
  #current: { runs: readonly PlannedRun[]; started_s: number; estimated_s: number } | undefined;
  /** The estimated seconds after the current run. */
  #later_s = 0;

  constructor(plan: Plan, overheads: Overheads) {
    this.#plan = plan;
    this.#overheads = overheads;
    this.expect(plan.runs);
  }

  /** Replaces the runs that are still to come. The plan may have got more configurations. */
  expect(runs: readonly PlannedRun[]): void {
    this.#topologies = new Map(
      this.#plan.configurations.map(({ hash, configuration }) => [
        hash,
        configuration.target.topology,
      ]),
    );
    this.#pending = runs.filter(({ file }) => !this.#settledFiles.has(file));
    // The pause after a run is still to come.
    const pause_s =
      this.#settledFiles.size > 0 && this.#pending.length > 0 ? this.#plan.cooldown_s : 0;
    this.#later_s = this.#estimate(this.#pending) + this.#correction(this.#pending) + pause_s;
  }

  skip(file: string): void {
    this.#settledFiles.add(file);
    this.#pending = this.#pending.filter((run) => run.file !== file);
    this.#later_s = this.#estimate(this.#pending);
  }

  start(files: readonly string[], now_s: number): void {
    const runs = this.#pending.filter(({ file }) => files.includes(file));
    for (const file of files) this.#settledFiles.add(file);
    if (runs.length === 0) return;

    const laterRuns = this.#pending.filter((run) => !runs.includes(run));
    // A difference of two estimates includes the pauses.
    const estimated_s = this.#estimate(this.#pending) - this.#estimate(laterRuns);
    this.#pending = laterRuns;
    this.#current = { runs, started_s: now_s, estimated_s };
    this.#later_s = this.#estimate(laterRuns) + this.#correction(laterRuns);
  }

  /**
   * @param isFullLength whether the run took its full time. A run that failed early says nothing
   *   about the others.
   */
  finish(now_s: number, isFullLength: boolean): void {
    if (!this.#current) return;

    const { runs, started_s, estimated_s } = this.#current;
    this.#current = undefined;
    // The pause after this run is still to come.
    const pause_s = this.#pending.length > 0 ? this.#plan.cooldown_s : 0;
    const excess_s = now_s - started_s + pause_s - estimated_s;
    if (isFullLength) {
      for (const run of runs) this.#learn(run, excess_s / runs.length);
    }
    this.#later_s = this.#estimate(this.#pending) + this.#correction(this.#pending) + pause_s;
  }

  secondsLeft(now_s: number): number {
    if (!this.#current) return Math.max(0, this.#later_s);
    const { runs, started_s, estimated_s } = this.#current;
    const current_s = estimated_s + this.#correction(runs) - (now_s - started_s);
    return Math.max(0, current_s) + Math.max(0, this.#later_s);
  }

  #estimate(runs: readonly PlannedRun[]): number {
    return estimateCampaignS(this.#plan, this.#overheads, [...runs]);
  }

  #learn(run: PlannedRun, excess_s: number): void {
    const topology = this.#topologies.get(run.configuration_hash) ?? "";
    this.#excesses.set(topology, [...(this.#excesses.get(topology) ?? []), excess_s]);
  }

  #correction(runs: readonly PlannedRun[]): number {
    const excesses = [...this.#excesses.values()].flat();
    const overall_s = excesses.length > 0 ? mean(excesses) : 0;
    const byTopology = new Map(
      [...this.#excesses].map(([topology, values]) => [topology, mean(values)]),
    );
    let total_s = 0;
    for (const { configuration_hash } of runs) {
      const topology = this.#topologies.get(configuration_hash) ?? "";
      total_s += byTopology.get(topology) ?? overall_s;
    }
    return total_s;
  }
}

const nowS = (): number => performance.now() / 1000;

type Figures = NonNullable<EventOf<"run_finished">["figures"]>;

/** The figures of a latency block, by their names in an event. */
const LATENCIES = { mean: "average", p50: "p50", p99: "p99" } as const;

function latenciesOf(latency: MeasuredResult["latency"]): Partial<Figures> {
  if (!latency) return {};
  const figures = Object.entries(LATENCIES).map(([name, figure]) => {
    const value_ms = latency[figure];
    return value_ms === null
      ? [`${name}_at_least_ms`, atLeast(latency, figure)]
      : [`${name}_ms`, value_ms];
  });
  return Object.fromEntries(figures);
}

function figuresOf(result: Result): Figures | undefined {
  if (result.status === "printed") {
    const { operations, latency } = result;
    const { average: mean_ms, p50: p50_ms, p99: p99_ms } = latency;
    return { requests_per_second: operations.per_second, mean_ms, p50_ms, p99_ms };
  }
  if (result.status !== "measured") return undefined;
  const { requests, latency, counts } = result;
  const answers = counts.allowed + counts.limited;
  const cpu = cpuUsPerRequest(result, "server");
  return {
    requests_per_second: requests.average,
    ...latenciesOf(latency),
    ...definedOnly({
      limited_share: answers > 0 ? counts.limited / answers : undefined,
      server_cpu_us_per_request: cpu,
    }),
  };
}

type OutcomeTexts = Pick<MeasuredResult, "outcome" | "outcome_text">;

const roundOfEvent = ({ round }: PlannedRun) => definedOnly({ round });

const NOT_SAVED = {
  rule: "M20",
  severity: "invalid",
  text: "failed: harness: it could not be saved",
} as const;

/** Reports the runs of a campaign as events, each with the time that is left. */
export class CampaignProgress {
  readonly #eventLog: EventLog;
  readonly #plan: Plan;
  readonly #timeLeft: TimeLeft;
  /** The runs that may take place, which at first are all that are planned. */
  #runs: Plan["runs"];
  #started_s = 0;
  #ends_s = Number.POSITIVE_INFINITY;

  constructor(eventLog: EventLog, plan: Plan, overheads: Overheads) {
    this.#eventLog = eventLog;
    this.#plan = plan;
    this.#runs = plan.runs;
    this.#timeLeft = new TimeLeft(plan, overheads);
  }

  /** Replaces the runs that take place, which were made, are planned, or are likely to be planned. */
  expect(runs: Plan["runs"]): void {
    this.#runs = runs;
    this.#timeLeft.expect(runs);
  }

  limitTime(seconds: number): void {
    this.#ends_s = nowS() + seconds;
  }

  kept(planned: PlannedRun, { status, outcome }: Pick<RunOutcome, "status" | "outcome">): void {
    this.#timeLeft.skip(planned.file);
    this.#eventLog.emit({
      event: "run_kept",
      ...this.#place(planned),
      ...roundOfEvent(planned),
      status,
      ...definedOnly({ outcome }),
    });
  }

  cooldown(seconds: number): void {
    if (seconds > 0) this.#eventLog.emit({ event: "phase", phase: "cooldown", lasts_s: seconds });
  }

  /** Reports runs that begin together. By turns these are the runs of a group. */
  started(runs: readonly PlannedRun[]): void {
    this.#started_s = nowS();
    const files = runs.map(({ file }) => file);
    this.#timeLeft.start(files, this.#started_s);
    if (runs.length > 1)
      this.#eventLog.emit({ event: "round_started", ...this.#roundMembers(runs) });
    for (const planned of runs) this.#started(planned);
  }

  ended(runs: readonly PlannedRun[]): void {
    if (runs.length === 1) return;
    const took_s = rounded(nowS() - this.#started_s, 3);
    this.#eventLog.emit({ event: "round_finished", ...this.#roundMembers(runs), took_s });
  }

  #roundMembers(runs: readonly PlannedRun[]) {
    const round = runs[0]?.round ?? 1;
    const numbers = runs.map((run) => this.#place(run).number);
    return {
      round,
      // A spare round is beyond those of the plan.
      of: Math.max(round, this.#plan.runs_per_configuration),
      runs: numbers,
      time_left_s: this.timeLeftS(),
    };
  }

  #started(planned: PlannedRun): void {
    const searchPhase = planned.bracket ? ("bracket" as const) : ("estimate" as const);
    this.#eventLog.emit({
      event: "run_started",
      ...this.#place(planned),
      run: planned.run,
      ...roundOfEvent(planned),
      runs_per_configuration: countedRuns(this.#plan, planned.configuration_hash),
      ...definedOnly({
        at_most: this.#plan.adaptive ? (true as const) : undefined,
        diagnose: planned.diagnose,
        search: this.#plan.max_rate ? searchPhase : undefined,
      }),
      configuration_hash: planned.configuration_hash,
      configuration: this.#configuration(planned),
      time_left_s: this.timeLeftS(),
    });
  }

  /**
   * @param isSaved whether the result is on the disk. A run that could not be saved counts as failed.
   */
  finished(planned: PlannedRun, result: Result, isSaved = true): void {
    const status: RunStatus = hasFigures(result) ? result.verdict.status : result.status;
    const { reasons } = result.verdict;
    const texts: OutcomeTexts = isSaved && hasFigures(result) ? result : {};
    const { outcome, outcome_text } = texts;
    const figures = isSaved ? figuresOf(result) : undefined;
    const now_s = nowS();
    this.#timeLeft.finish(now_s, figures !== undefined);
    this.#eventLog.emit({
      event: "run_finished",
      ...this.#place(planned),
      run: planned.run,
      ...definedOnly({ diagnose: planned.diagnose }),
      ...roundOfEvent(planned),
      configuration_hash: planned.configuration_hash,
      status: isSaved ? status : "failed",
      ...definedOnly({ outcome, outcome_text }),
      reasons: isSaved ? reasons : [...reasons, NOT_SAVED],
      ...definedOnly({ figures }),
      took_s: rounded(now_s - this.#started_s, 3),
      time_left_s: this.timeLeftS(),
    });
  }

  /**
   * The listeners of runs that are made together. A phase is reported when the first run comes to
   * it.
   * @param runs the runs, with a function that takes the lines of their programs
   * @param targets the number of targets that share the load, which are the runs and fillers
   */
  listeners(
    runs: readonly { planned: PlannedRun; log: (role: string, line: string) => void }[],
    targets = runs.length,
  ): RunListener[] {
    const reported = new Set<Phase>();
    return runs.map(({ planned, log }) => {
      const { number } = this.#place(planned);
      return {
        phase: (phase) => {
          if (reported.has(phase)) return;
          reported.add(phase);
          const lasts_s = this.#lastsS(
            phase,
            runs.map((run) => run.planned),
          );
          this.#eventLog.emit({
            event: "phase",
            ...definedOnly({ number: targets === 1 ? number : undefined }),
            phase,
            // Fillers have the load as long as the runs.
            ...definedOnly({ lasts_s: lasts_s && (targets / runs.length) * lasts_s }),
          });
        },
        second: (second) =>
          this.#eventLog.emit({ ...second, number, time_left_s: this.timeLeftS() }),
        fault: (line) => {
          log("faults", line);
          this.#eventLog.detail(`  ${line}`);
        },
        log: (role, line) => {
          log(role, line);
          this.programLine(role, line);
        },
        record: log,
      };
    });
  }

  programLine(role: string, line: string): void {
    if (!line.startsWith("{")) this.#eventLog.programLine(role, line);
  }

  /** The seconds of a phase of runs that are made together; undefined where they are not known. */
  #lastsS(phase: Phase, planned: readonly PlannedRun[]): number | undefined {
    const configurations = planned.map((run) => this.#configuration(run));
    const { warmup_s, load_curve } = this.#plan;
    if (phase === "warmup") {
      // The runs of a target share its warm-up in a load curve.
      const targets = load_curve ? targetsOfCurve(configurations) : configurations;
      return warmup_s === "auto" ? undefined : targets.length * warmup_s;
    }
    if (phase !== "measure") return undefined;
    const lengths_s = configurations.flatMap(({ extent }) =>
      "duration_s" in extent ? extent.duration_s : [],
    );
    return lengths_s.length > 0 ? sum(lengths_s) : undefined;
  }

  timeLeftS(): number {
    const now_s = nowS();
    const left_s = Math.min(this.#timeLeft.secondsLeft(now_s), this.#ends_s - now_s);
    return rounded(Math.max(0, left_s), 1);
  }

  #place({ file }: PlannedRun): { number: number; of: number; file: string } {
    return {
      number: this.#runs.findIndex((run) => run.file === file) + 1,
      of: this.#runs.length,
      file,
    };
  }

  #configuration({ configuration_hash }: PlannedRun): Configuration {
    return plannedConfiguration(this.#plan, configuration_hash).configuration;
  }
}
