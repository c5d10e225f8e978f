import { mean } from "../../contract/numbers.js";
import type { Plan, PlannedRun } from "../../contract/plan.js";
import { estimateCampaignS, type Overheads } from "./estimate.js";

/**
 * The plan's estimate for the remaining runs, corrected by how far finished runs were off, by topology where one is
 * finished. Times are seconds of any monotonic clock.
 */
export class TimeLeft {
  readonly #plan: Plan;
  readonly #overheads: Overheads;
  #topologies: ReadonlyMap<string, string> = new Map();
  #pending: readonly PlannedRun[] = [];
  /** Files of runs that have begun, or do not take place. */
  readonly #gone = new Set<string>();
  /** Seconds beyond the estimate, by topology. */
  readonly #excess = new Map<string, number[]>();
  #current: { runs: readonly PlannedRun[]; started_s: number; estimated_s: number } | undefined;
  /** Seconds after the current run. */
  #later_s = 0;

  constructor(plan: Plan, overheads: Overheads) {
    this.#plan = plan;
    this.#overheads = overheads;
    this.expect(plan.runs);
  }

  /** Replaces the runs that are still to come. The plan may have got more configurations. */
  expect(runs: readonly PlannedRun[]): void {
    this.#topologies = new Map(
      this.#plan.configurations.map(({ hash, configuration }) => [hash, configuration.target.topology]),
    );
    this.#pending = runs.filter(({ file }) => !this.#gone.has(file));
    // The pause after a run is still to come.
    const pause_s = this.#gone.size > 0 && this.#pending.length > 0 ? this.#plan.cooldown_s : 0;
    this.#later_s = this.#estimate(this.#pending) + this.#correction(this.#pending) + pause_s;
  }

  skip(file: string): void {
    this.#gone.add(file);
    this.#pending = this.#pending.filter((run) => run.file !== file);
    this.#later_s = this.#estimate(this.#pending);
  }

  start(files: readonly string[], now_s: number): void {
    const runs = this.#pending.filter(({ file }) => files.includes(file));
    for (const file of files) this.#gone.add(file);
    if (runs.length === 0) return;
    const rest = this.#pending.filter((each) => !runs.includes(each));
    // A difference of two estimates includes the pauses.
    const estimated_s = this.#estimate(this.#pending) - this.#estimate(rest);
    this.#pending = rest;
    this.#current = { runs, started_s: now_s, estimated_s };
    this.#later_s = this.#estimate(rest) + this.#correction(rest);
  }

  /** @param counts whether the run took its full time: one that failed early says nothing about the others */
  finish(now_s: number, counts: boolean): void {
    if (!this.#current) return;
    const { runs, started_s, estimated_s } = this.#current;
    this.#current = undefined;
    // The pause after this run is still to come.
    const pause_s = this.#pending.length > 0 ? this.#plan.cooldown_s : 0;
    const excess_s = now_s - started_s + pause_s - estimated_s;
    if (counts) for (const run of runs) this.#learn(run, excess_s / runs.length);
    this.#later_s = this.#estimate(this.#pending) + this.#correction(this.#pending) + pause_s;
  }

  secondsLeft(now_s: number): number {
    if (!this.#current) return Math.max(0, this.#later_s);
    const { runs, started_s, estimated_s } = this.#current;
    const own_s = estimated_s + this.#correction(runs) - (now_s - started_s);
    return Math.max(0, own_s) + Math.max(0, this.#later_s);
  }

  #estimate(runs: readonly PlannedRun[]): number {
    return estimateCampaignS({ ...this.#plan, runs: [...runs] }, this.#overheads);
  }

  #learn(run: PlannedRun, excess_s: number): void {
    const topology = this.#topologies.get(run.configuration_hash) ?? "";
    this.#excess.set(topology, [...(this.#excess.get(topology) ?? []), excess_s]);
  }

  #correction(runs: readonly PlannedRun[]): number {
    const all = [...this.#excess.values()].flat();
    const ofAll = all.length > 0 ? mean(all) : 0;
    const each = new Map([...this.#excess].map(([topology, values]) => [topology, mean(values)]));
    return runs.reduce(
      (total, run) => total + (each.get(this.#topologies.get(run.configuration_hash) ?? "") ?? ofAll),
      0,
    );
  }
}
