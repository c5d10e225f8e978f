import {
  type Configuration,
  configurationFileName,
  configurationHash,
  type FileNameLimit,
} from "../../contract/configuration.js";
import { connectionsText } from "../../contract/layers.js";
import {
  type Plan,
  type PlannedRun,
  plannedConfiguration,
  plannedFrom,
} from "../../contract/plan.js";
import { RANGES } from "../../contract/ranges.js";
import { MIN_TRIALS_PER_RATE } from "../../contract/statistics.js";
import { definedOnly } from "../../kit/defined-only.js";
import { DEFAULT_TRAFFIC } from "../../traffic/profiles.js";
import { shuffler } from "../../traffic/shuffle.js";
import { makePlan, type PlanContext } from "../plan/make-plan.js";
import { describeRankings, rankingsOf } from "../plan/rankings.js";
import type { Request } from "../request/request.js";
import { entryText, limitTexts } from "../ui/event-text.js";
import { expectedTrials, nextTrials, type SearchSettings, type Trial } from "./trials.js";

/** The measured seconds of a trial, unless a fixed duration was requested. */
const TRIAL_S = 10;

/** A configuration, at any rate, whose highest rate is searched. */
export interface Subject {
  /** The configuration at the first rate. */
  configuration: Configuration;
  /** The target's label, with the properties that tell it from other subjects of the target. */
  name: string;
}

function atRate(configuration: Configuration, rate_per_second: number): Configuration {
  const { load } = configuration;
  if (load.model !== "open") throw new Error("a search is of open loops");
  return { ...configuration, load: { ...load, rate_per_second } };
}

export const rateOf = ({ load }: Configuration): number =>
  load.model === "open" ? load.rate_per_second : 0;

const subjectKey = (configuration: Configuration): string =>
  configurationHash(atRate(configuration, 1));

export function subjectsOf({ configurations }: Pick<Plan, "configurations">): Subject[] {
  const firstByKey = new Map<string, Configuration>();
  for (const { configuration } of configurations) {
    const key = subjectKey(configuration);
    if (!firstByKey.has(key)) firstByKey.set(key, configuration);
  }
  const subjects = [...firstByKey.values()];
  return subjects.map((configuration) => {
    const { label } = configuration.target;
    const isOnly = subjects.filter(({ target }) => target.label === label).length === 1;
    return { configuration, name: isOnly ? label : longName(configuration) };
  });
}

/** A name that tells a subject from others with the same target. */
function longName(configuration: Configuration): string {
  const { target, layer, traffic, load } = configuration;
  const texts = [
    target.label,
    entryText(configuration),
    traffic,
    `up to ${connectionsText(layer, load.connections)}`,
    ...limitTexts(configuration),
  ];
  return texts.join(", ");
}

export function subjectName(plan: Plan, configuration: Configuration): string {
  const key = subjectKey(configuration);
  const subject = subjectsOf(plan).find((other) => subjectKey(other.configuration) === key);
  return subject?.name ?? configuration.target.label;
}

function searchSettings({ max_rate }: Plan): SearchSettings {
  if (!max_rate) throw new Error("this plan is no search");
  return max_rate;
}

/** The rankings of trials by rate. They have no reference, because trials are not compared. */
export const trialRankings = ({ configurations }: Pick<Plan, "configurations">): Plan["rankings"] =>
  describeRankings(rankingsOf(configurations, () => undefined));

/** The plan of a request, with all of its runs, or with the first trials of a search. */
export function planOf(request: Request, context: PlanContext): Plan {
  const { load, rounds } = request;
  const { objectives, duration } = load;
  if (!objectives) return makePlan(request, context);
  const seconds = duration.mode === "fixed" ? duration.seconds : TRIAL_S;
  const trial: Request = {
    ...request,
    load: { ...load, duration: { mode: "fixed", seconds } },
    rounds: { ...rounds, runs: 1 },
  };
  const plan = makePlan(trial, context);
  const trials_per_rate = Math.max(MIN_TRIALS_PER_RATE, rounds.runs);
  const { min, max } = RANGES.rate;
  const search: Plan = {
    ...plan,
    rankings: trialRankings(plan),
    runs_per_configuration: trials_per_rate,
    max_rate: {
      objectives: objectives.map(({ text }) => text),
      from: load.rates[0] ?? min,
      min,
      max,
      trials_per_rate,
      ...definedOnly({ budget_s: load.searchBudgetS }),
    },
    runs: [],
  };
  return { ...search, runs: nextRuns(search, new Map()).runs };
}

function trialsBySubject(
  plan: Plan,
  statuses: ReadonlyMap<string, Trial["status"]>,
): Map<string, Trial[]> {
  const bySubject = new Map<string, Trial[]>();
  for (const { configuration_hash, file, bracket = false } of plan.runs) {
    const status = statuses.get(file);
    if (!status) continue;
    const { configuration } = plannedConfiguration(plan, configuration_hash);
    const key = subjectKey(configuration);
    const trial = { rate_per_second: rateOf(configuration), bracket, status };
    bySubject.set(key, [...(bySubject.get(key) ?? []), trial]);
  }
  return bySubject;
}

function listedLimits({ configurations }: Plan): FileNameLimit[] {
  const hasSeveral = (name: FileNameLimit) =>
    new Set(configurations.map(({ configuration: { limits } }) => limits[name])).size > 1;
  return (["points", "window_s"] as const).filter(hasSeveral);
}

interface NextRuns {
  configurations: Plan["configurations"];
  /** The runs in a random order, which the plan's seed decides. */
  runs: PlannedRun[];
  givenUp: string[];
}

/**
 * The runs that a search needs next. Each subject is bracketed first. Then all take turns over their
 * rates, so that drift of the machine hits all alike (M16).
 * @param statuses the statuses of trials, by result file
 */
export function nextRuns(plan: Plan, statuses: ReadonlyMap<string, Trial["status"]>): NextRuns {
  const trials = trialsBySubject(plan, statuses);
  const searches = subjectsOf(plan).map((subject) => {
    const trialsOfSubject = trials.get(subjectKey(subject.configuration)) ?? [];
    return { subject, next: nextTrials(searchSettings(plan), trialsOfSubject) };
  });
  const phase = searches.some(({ next }) => next.phase === "bracket") ? "bracket" : "estimate";

  const due: Configuration[] = [];
  const givenUp: string[] = [];
  for (const { subject, next } of searches) {
    if (next.phase === phase)
      due.push(...next.rates.map((rate) => atRate(subject.configuration, rate)));
    if (next.phase === "given up")
      givenUp.push(
        `${subject.name}: given up: no trial at ${next.rate_per_second}/s could be measured`,
      );
  }

  const plannedHashes = new Set(plan.configurations.map(({ hash }) => hash));
  const planned = due.map(plannedFrom);
  const shuffled = shuffler(plan.seed + plan.runs.length).shuffle(planned);
  return {
    configurations: planned.filter(({ hash }) => !plannedHashes.has(hash)),
    runs: shuffled.map((configuration) => trialRun(plan, configuration, phase)),
    givenUp,
  };
}

function trialRun(
  plan: Plan,
  { hash, configuration }: Plan["configurations"][number],
  phase: "bracket" | "estimate",
): PlannedRun {
  const earlier = plan.runs.filter(({ configuration_hash }) => configuration_hash === hash);
  const run = earlier.length + 1;
  const name = configurationFileName(configuration, DEFAULT_TRAFFIC, listedLimits(plan));
  return {
    configuration_hash: hash,
    run,
    file: `${name}_run${run}.json`,
    ...definedOnly({ bracket: phase === "bracket" ? (true as const) : undefined }),
  };
}

/** The plan with the trials that its search is likely to need, for estimates. */
export function withExpectedTrials(
  plan: Plan,
  statuses: ReadonlyMap<string, Trial["status"]>,
): Plan {
  if (!plan.max_rate) return plan;
  const trials = trialsBySubject(plan, statuses);
  const pending = plan.runs.filter(({ file }) => !statuses.has(file));
  const keyOf = ({ configuration_hash }: PlannedRun) =>
    subjectKey(plannedConfiguration(plan, configuration_hash).configuration);
  const expected = subjectsOf(plan).flatMap(({ configuration }, subject): PlannedRun[] => {
    const key = subjectKey(configuration);
    const count = expectedTrials(searchSettings(plan), trials.get(key) ?? []);
    const planned = pending.filter((run) => keyOf(run) === key).length;
    const configuration_hash = configurationHash(configuration);
    return Array.from({ length: Math.max(0, count - planned) }, (_, index) => ({
      configuration_hash,
      run: 1,
      file: `expected-${subject}-${index}`,
    }));
  });
  return { ...plan, runs: [...plan.runs, ...expected] };
}
