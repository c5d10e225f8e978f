import { type Arrivals, DEFAULT_POOL, namedArrivals } from "../../contract/configuration.js";
import { RANGES } from "../../contract/ranges.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { toThreeDigits } from "../../kit/numbers.js";
import { meanRate } from "../../traffic/trace.js";
import type { Trace } from "../../traffic/traffic-types.js";
import { NO_FAULT } from "./fault-flags.js";
import { curveOf } from "./load-curve.js";
import { DEFAULT_MAX_RUNS } from "./measure-settings.js";
import type { RequestedLoad, RequestedRounds } from "./request.js";
import { oneOf, type Settings, type SettingValue } from "./setting-layers.js";
import { AUTO, badValue, numberIn } from "./setting-values.js";
import { thresholdsOf } from "./thresholds.js";

const rateIn = (source: string, text: string): number => numberIn("rate", source, text, false);

/** Rates from `from:to:steps`, each the same factor above the last. */
function sweptRates({ source, value }: SettingValue): number[] {
  const [from, to, count, ...more] = value.split(":");
  if (from === undefined || to === undefined || count === undefined || more.length > 0)
    throw badValue(source, value, "give from:to:steps, e.g. 1000:20000:8");

  const low = rateIn(source, from);
  const high = rateIn(source, to);
  const steps = numberIn("steps", source, count);
  if (high <= low) throw usageError(`${source} ${value}: the second rate must be above the first`);

  const factor = (high / low) ** (1 / (steps - 1));
  const middleRates = Array.from({ length: steps - 2 }, (_, index) =>
    toThreeDigits(low * factor ** (index + 1)),
  );
  return [...new Set([low, ...middleRates, high])];
}

function ratesOf(settings: Settings): number[] {
  const rate = settings.find("rate");
  const range = settings.find("rate-sweep");
  if (rate && range) throw usageError(`${rate.source} and ${range.source}: give one of them`);
  if (range) return sweptRates(range);
  return rate ? settings.list("rate").map((text) => rateIn(rate.source, text)) : [];
}

/** The rates at which a trace is sent, by `trace-speed`; empty without it. @throws usageError */
function traceRates(settings: Settings, trace: Trace | undefined): number[] {
  const speed = settings.find("trace-speed");
  if (!speed) return [];
  if (!trace) throw usageError(`${speed.source} needs --trace`);
  for (const key of ["rate", "rate-sweep", "arrivals", "find-max-rate"]) {
    const other = key === "find-max-rate" && !settings.isOn(key) ? undefined : settings.find(key);
    if (other) throw usageError(`${speed.source} and ${other.source}: give one of them`);
  }

  const traceRate = meanRate(trace);
  if (traceRate === 0)
    throw usageError(`${speed.source}: all requests of the trace have one time: give --rate`);
  return settings.list("trace-speed").map((text) => {
    const factor = numberIn("trace-speed", speed.source, text, false);
    const rate = Number((traceRate * factor).toPrecision(6));
    if (rate >= RANGES.rate.min && rate <= RANGES.rate.max) return rate;
    throw usageError(
      `${speed.source} ${text}: ${rate} requests/s; the trace has ${Number(traceRate.toPrecision(3))}, and ${RANGES.rate.min} to ${RANGES.rate.max} are possible`,
    );
  });
}

/** The rate at which a search begins unless the user names one. */
const SEARCH_FROM = 1000;

type Search = Pick<OpenLoops, "objectives" | "searchBudgetS">;

/** The objectives and budget of a search for the highest rate; undefined without --find-max-rate. */
function searchOf(settings: Settings): Search | undefined {
  const slo = settings.find("slo");
  if (!settings.isOn("find-max-rate")) {
    if (slo) throw usageError(`${slo.source} needs --find-max-rate`);
    return undefined;
  }
  if (!slo)
    throw usageError('--find-max-rate needs an objective, e.g. --slo "p99<10ms,errors<0.1%"');
  const threshold = settings.find("threshold");
  if (threshold)
    throw usageError(
      `${threshold.source}: with --find-max-rate the objective is --slo: leave one of them out`,
    );
  const order = settings.get("order");
  if (order.value === "consecutive")
    throw usageError(`${order.source} consecutive: --find-max-rate interleaves its trials`);

  const objectives = thresholdsOf(slo, false);
  const budget = settings.find("budget");
  return definedOnly({ objectives, searchBudgetS: budget && budgetS(budget) });
}

/** The number that stands in the place of a rate until a calibration finds it. */
const NOT_CALIBRATED = 1000;

/** Whether some run has a fault, which needs the rate of an open loop. */
function needsRate(settings: Settings): boolean {
  const faults = settings.find("fault")?.value.split(/[,\s]+/) ?? [];
  return faults.some((fault) => fault !== "" && fault !== NO_FAULT);
}

/** The settings of open loops; without rates the loops are closed. */
interface OpenLoops
  extends Pick<
    RequestedLoad,
    "rates" | "curve" | "calibrates" | "arrivals" | "objectives" | "searchBudgetS"
  > {
  /**
   * The number of connections in place of that of a preset or the default, which is meant for closed
   * loops. In a load curve with full load it is that of full load.
   */
  concurrency?: SettingValue;
  /** The connections of an open loop, where the setting names those of full load. */
  connections?: number[];
}

/** Reads rates, arrivals, searches and their budget. @throws usageError where they contradict */
export function openLoopsOf(settings: Settings, trace?: Trace): OpenLoops {
  const curve = curveOf(settings);
  if (curve) return { ...curve, arrivals: arrivalsOf(settings, "constant") };

  const search = searchOf(settings);
  const replayed = traceRates(settings, trace);
  const requested = replayed.length > 0 ? replayed : ratesOf(settings);
  if (search && requested.length > 1)
    throw usageError("--find-max-rate: give one --rate to begin at, not several");

  const calibrates = !search && requested.length === 0 && needsRate(settings);
  const rates = requested.length > 0 ? requested : placeholderRates(search, calibrates);
  const spread = settings.find("arrivals");
  if (spread && rates.length === 0)
    throw usageError(`${spread.source} ${spread.value.slice(0, 60)} needs a rate: give --rate`);

  const takesDefaultPool = rates.length > 0 && !settings.isGiven("concurrency");
  const defaultPool = { source: "--concurrency", value: String(DEFAULT_POOL) };
  return definedOnly({
    rates,
    calibrates: calibrates ? (true as const) : undefined,
    arrivals: arrivalsOf(settings, defaultArrivals(replayed)),
    ...search,
    concurrency: takesDefaultPool ? defaultPool : undefined,
  });
}

function arrivalsOf(settings: Settings, otherwise: Arrivals): Arrivals {
  const spread = settings.find("arrivals");
  return spread ? oneOf(spread, namedArrivals) : otherwise;
}

/** The rates of an open loop for which the user named none; empty for closed loops. */
function placeholderRates(search: Search | undefined, calibrates: boolean): number[] {
  if (search) return [SEARCH_FROM];
  return calibrates ? [NOT_CALIBRATED] : [];
}

/** How sends are spaced by default. The requests of a trace are sent at the trace's own times. */
const defaultArrivals = (traceRates: readonly number[]): Arrivals =>
  traceRates.length > 0 ? "trace" : "constant";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const MOST_HOURS = 1000;

/** The seconds of a time such as `90s`, `20m` or `1.5h`. @throws usageError that gives these forms */
export function budgetS({ source, value }: SettingValue): number {
  const [, amount = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)([smh])$/.exec(value) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? 0);
  if (seconds >= 1 && seconds <= MOST_HOURS * 3600) return seconds;
  throw badValue(
    source,
    value,
    `give a time with its unit, e.g. 90s, 20m or 1.5h, from 1s to ${MOST_HOURS}h`,
  );
}

/** Reads the loss that a gate tolerates. @throws usageError unless it is above the margin */
function toleratePercentOf(settings: Settings): number | undefined {
  const tolerate = settings.find("tolerate");
  if (!tolerate) return undefined;
  const percentOf = ({ source, value }: SettingValue, name: "tolerate" | "margin") =>
    numberIn(name, source, value.replace(/ ?%$/, ""), false);
  const percent = percentOf(tolerate, "tolerate");
  const margin = percentOf(settings.get("margin"), "margin");
  if (percent > margin) return percent;
  throw usageError(
    `${tolerate.source} ${tolerate.value}: give more than the margin of ${margin} %, or a smaller --margin`,
  );
}

/** Reads `runs`, `max-runs`, `tolerate` and `budget`. @throws usageError */
export function runsOf(settings: Settings): Pick<RequestedRounds, "runs" | "adaptive"> {
  const runs = settings.get("runs");
  const maxRuns = settings.find("max-runs");
  const budget = settings.find("budget");
  if (runs.value !== AUTO) {
    const unusedBudget = settings.isOn("find-max-rate") ? undefined : budget;
    const useless = maxRuns ?? settings.find("tolerate") ?? unusedBudget;
    const alternative = useless === budget ? " or --find-max-rate" : "";
    if (useless)
      throw usageError(
        `${useless.source} ${useless.value.slice(0, 60)} needs --runs auto${alternative}`,
      );
    return { runs: numberIn("runs", runs.source, runs.value, true, AUTO) };
  }

  const order = settings.get("order");
  if (order.value === "consecutive")
    throw usageError(
      `${runs.source} auto and ${order.source} consecutive: adaptive runs need interleaved rounds`,
    );

  const openLoop =
    settings.find("rate") ??
    settings.find("rate-sweep") ??
    settings.find("slo") ??
    settings.find("fault");
  if (openLoop)
    throw usageError(
      `${runs.source} auto and ${openLoop.source}: throughput decides, and an open loop fixes the throughput`,
    );

  const { source, value } = maxRuns ?? { source: "--max-runs", value: DEFAULT_MAX_RUNS };
  return {
    runs: numberIn("max-runs", source, value),
    adaptive: definedOnly({
      budgetS: budget && budgetS(budget),
      toleratePercent: toleratePercentOf(settings),
    }),
  };
}
