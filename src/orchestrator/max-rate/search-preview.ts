import { type Warmup, warmupText } from "../../contract/configuration.js";
import { connectionsText } from "../../contract/layers.js";
import type { Threshold } from "../../contract/manifest.js";
import type { Plan } from "../../contract/plan.js";
import { type Preview, previewCampaign, SUBJECT_COLUMNS, subjectCells } from "../campaign/dry-run.js";
import { overheadsOf, REPORT_S, runS } from "../plan/estimate.js";
import type { Request } from "../request/request.js";
import { limitTexts } from "../ui/event-text.js";
import { counted, durationText, textTable } from "../ui/text.js";
import { searchRange, trialSeconds } from "./find.js";
import { findMaxRate, MISSES_TO_REJECT, type SearchRange, STEP_FACTOR, type Trial } from "./search.js";

interface Cost {
  trials: number;
  seconds: number;
}

/** What a search would do; nothing is started to find out. */
interface SearchPreview extends Omit<Preview, "estimate" | "plan"> {
  configurations: Plan["configurations"];
  skips: Plan["skips"];
  objectives: string[];
  range: SearchRange;
  /** Before each trial. */
  warmup_s: Warmup;
  /** The measured seconds of each kind of trial. */
  seconds: Record<Trial["kind"], number>;
  /** The highest cost of all configurations together, whatever the trials show. */
  at_most: Cost;
  /** The cost if each configuration keeps exactly this rate. */
  example: Cost & { rate_per_second: number };
}

/** The example's rate as a multiple of the first rate. */
const EXAMPLE_FACTOR = 5;

type SecondsOf = (kind: Trial["kind"]) => number;

/** The cost of a search whose trials end as `isMet` says. */
async function costOf(
  range: SearchRange,
  secondsOf: SecondsOf,
  isMet: (rate: number, kind: Trial["kind"]) => boolean,
): Promise<Cost & { confirmations: number[] }> {
  const { trials } = await findMaxRate(range, async (rate, kind) => ({
    isMet: isMet(rate, kind),
    reason: "",
  }));
  return {
    trials: trials.length,
    seconds: trials.reduce((sum, { kind }) => sum + secondsOf(kind), 0),
    confirmations: trials.filter(({ kind }) => kind === "confirmation").map((trial) => trial.rate_per_second),
  };
}

/**
 * The highest cost of a search: each rate is tried as often as possible, the last probe of each rate is met, and
 * confirmations are met up to some bound. The bound with the highest cost counts.
 */
export async function maxCost(range: SearchRange, secondsOf: SecondsOf): Promise<Cost> {
  const slowest = (bound: number) => {
    let misses = 0;
    return costOf(range, secondsOf, (rate, kind) => {
      if (++misses < MISSES_TO_REJECT) return false;
      misses = 0;
      return kind === "probe" || rate <= bound;
    });
  };
  const none = await slowest(0);
  const costs = [none];
  for (const bound of new Set(none.confirmations)) costs.push(await slowest(bound));
  return {
    trials: Math.max(...costs.map(({ trials }) => trials)),
    seconds: Math.max(...costs.map(({ seconds }) => seconds)),
  };
}

/** @throws BenchError as the search would before its first trial */
export async function previewSearch(
  request: Request,
  objectives: readonly Threshold[],
  packageFolder: string,
): Promise<SearchPreview> {
  const { estimate: _, plan, ...found } = await previewCampaign({ ...request, runs: 1 }, packageFolder);
  const { runtime, notices } = found;
  const { configurations, skips, notes, warmup_s } = plan;
  const overheads = await overheadsOf(runtime.id);
  const range = searchRange(request);
  const seconds = trialSeconds(request);
  const rate = Math.min(range.from * EXAMPLE_FACTOR, range.max);
  const at_most = { trials: 0, seconds: 0 };
  const example = { rate_per_second: rate, trials: 0, seconds: 0 };
  for (const { configuration } of configurations) {
    const trialS = (kind: Trial["kind"]) =>
      runS(plan, { ...configuration, extent: { duration_s: seconds[kind] } }, overheads) + REPORT_S;
    add(at_most, await maxCost(range, trialS));
    add(example, await costOf(range, trialS, (tried) => tried <= rate));
  }
  return {
    ...found,
    configurations,
    skips,
    notices: [...notes, ...notices],
    objectives: objectives.map(({ text }) => text),
    range,
    warmup_s,
    seconds,
    at_most,
    example,
  };
}

function add(sum: Cost, { trials, seconds }: Cost): void {
  sum.trials += trials;
  sum.seconds = Math.round(sum.seconds + seconds);
}

/** The preview for people. */
export function searchLines(found: SearchPreview): string[] {
  const { runtime, configurations, skips, notices, objectives, range, warmup_s, seconds, at_most, example } =
    found;
  const percent = (range.resolution * 100).toFixed(0);
  return [
    `runtime: ${runtime.id} (${runtime.choice})`,
    `search: the highest rate from ${range.min}/s to ${range.max}/s that keeps ${objectives.join(", ")}, for each of`,
    ...textTable([
      [...SUBJECT_COLUMNS, "load"],
      ...configurations.map(({ configuration }) => [
        ...subjectCells(configuration),
        [
          `up to ${connectionsText(configuration.layer, configuration.load.connections)}`,
          ...limitTexts(configuration),
        ].join(", "),
      ]),
    ]).map((line) => `  ${line}`),
    `trials: one run each, ${warmupText(warmup_s)} and ${seconds.probe} s measured; ${seconds.confirmation} s to confirm a rate before it is accepted`,
    `choice: from ${range.from}/s each rate is ${STEP_FACTOR} times the last until one is missed, ${MISSES_TO_REJECT} times in a row; then halfway between the rate that is kept and the one that is missed, until they are within ${percent} %`,
    ...skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    ...notices.map((note) => `note: ${note}`),
    `at most ${counted(at_most.trials, "trial")} of ${counted(configurations.length, "configuration")}, about ${durationText(at_most.seconds)}; ${counted(example.trials, "trial")}, about ${durationText(example.seconds)}, if each keeps up to ${example.rate_per_second}/s`,
  ];
}
