import { type Arrivals, arrivalsSchema, DEFAULT_POOL } from "../../contract/configuration.js";
import { usageError } from "../../contract/errors.js";
import type { Threshold } from "../../contract/manifest.js";
import { listOf, numberIn } from "./request.js";
import type { Settings, SettingValue } from "./setting-layers.js";
import { parseThresholds } from "./thresholds.js";

const rateIn = (source: string, text: string): number => numberIn("rate", source, text, false);

/** Three digits are enough of a rate, and read better. */
const rounded = (rate: number): number => Number(rate.toPrecision(3));

/** Rates from `from:to:steps`, each the same factor above the last. */
function sweep({ source, value }: SettingValue): number[] {
  const [from, to, count, ...more] = value.split(":");
  if (from === undefined || to === undefined || count === undefined || more.length > 0) {
    const text = JSON.stringify(value.slice(0, 60));
    throw usageError(`${source} ${text}: give from:to:steps, e.g. 1000:20000:8`);
  }
  const [low, high, steps] = [rateIn(source, from), rateIn(source, to), numberIn("steps", source, count)];
  if (high <= low) throw usageError(`${source} ${value}: the second rate must be above the first`);
  const factor = (high / low) ** (1 / (steps - 1));
  const between = Array.from({ length: steps - 2 }, (_, index) => rounded(low * factor ** (index + 1)));
  return [...new Set([low, ...between, high])];
}

function ratesOf(settings: Settings, notices: string[]): number[] {
  const rate = settings.find("rate");
  const range = settings.find("rate-sweep");
  if (rate && range) throw usageError(`${rate.source} and ${range.source}: give one of them`);
  if (range) return sweep(range);
  return rate ? listOf(rate.source, rate.value, notices).map((text) => rateIn(rate.source, text)) : [];
}

/** Where a search begins that was given no rate. */
const SEARCH_FROM = 1000;

/** What a search for the highest rate shall keep; undefined where none was asked for. */
function objectivesOf(settings: Settings): Threshold[] | undefined {
  const slo = settings.find("slo");
  if (!settings.isOn("find-max-rate")) {
    if (slo) throw usageError(`${slo.source} is of no use without --find-max-rate`);
    return undefined;
  }
  if (!slo) throw usageError('--find-max-rate: say what to keep, e.g. --slo "p99<10ms,errors<0.1%"');
  return parseThresholds(slo.source, slo.value);
}

/** The open loops that were asked for. */
export interface OpenLoops {
  /** None for closed loops. */
  rates: number[];
  arrivals: Arrivals;
  objectives?: Threshold[];
  /** What stands for the number of connections when nobody said any; a preset's is meant for closed loops. */
  concurrency?: SettingValue;
}

/**
 * Reads `rate`, `rate-sweep`, `arrivals`, `find-max-rate` and `slo`.
 * @param isSaid whether somebody said it, and no preset or default
 * @throws usageError that names the range
 */
export function openLoopsOf(
  settings: Settings,
  isSaid: (key: string) => boolean,
  notices: string[],
): OpenLoops {
  const objectives = objectivesOf(settings);
  const given = ratesOf(settings, notices);
  if (objectives && given.length > 1)
    throw usageError("--find-max-rate: give one --rate to begin at, not several");
  const rates = objectives && given.length === 0 ? [SEARCH_FROM] : given;
  const said = settings.find("arrivals");
  if (said && rates.length === 0)
    throw usageError(`${said.source} ${said.value.slice(0, 60)} is of no use without a rate: give --rate`);
  const arrivals = arrivalsSchema.safeParse(said?.value ?? "constant");
  if (!arrivals.success) {
    const text = JSON.stringify(said?.value.slice(0, 60));
    throw usageError(`${said?.source} ${text}: give one of ${arrivalsSchema.options.join(", ")}`);
  }
  const isDefault = rates.length > 0 && !isSaid("concurrency");
  const concurrency = { source: "--concurrency", value: String(DEFAULT_POOL) };
  const search = objectives ? { objectives } : {};
  return { rates, arrivals: arrivals.data, ...search, ...(isDefault ? { concurrency } : {}) };
}
