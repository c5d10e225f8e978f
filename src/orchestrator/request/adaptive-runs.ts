import { usageError } from "../../contract/errors.js";
import { numberIn, RANGES, type Request } from "./request.js";
import type { Settings, SettingValue } from "./setting-layers.js";

/** What `--runs` says when the campaign shall find out. */
const AUTO = "auto";
const MAX_RUNS = "20";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const MOST_HOURS = 1000;

/** `90s`, `20m` or `1.5h` in seconds. @throws usageError that says so */
export function budgetS({ source, value }: SettingValue): number {
  const [, amount = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)([smh])$/.exec(value) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? 0);
  if (seconds >= 1 && seconds <= MOST_HOURS * 3600) return seconds;
  throw usageError(
    `${source} ${JSON.stringify(value.slice(0, 60))}: give a time with its unit, e.g. 90s, 20m or 1.5h, from 1s to ${MOST_HOURS}h`,
  );
}

/** @throws usageError that also tells of `auto` */
function fixedRuns({ source, value }: SettingValue): number {
  if (/^\d/.test(value)) return numberIn("runs", source, value);
  const { min, max } = RANGES.runs;
  const text = JSON.stringify(value.slice(0, 60));
  throw usageError(`${source} ${text}: give a whole number from ${min} to ${max}, or auto`);
}

/**
 * Reads `runs`, `max-runs` and `budget`.
 * @throws usageError also for what adaptive runs cannot go with
 */
export function runsOf(settings: Settings): Pick<Request, "runs" | "adaptive"> {
  const runs = settings.get("runs");
  const most = settings.find("max-runs");
  const budget = settings.find("budget");
  if (runs.value !== AUTO) {
    const idle = most ?? budget;
    if (idle) throw usageError(`${idle.source} ${idle.value.slice(0, 60)} is of no use without --runs auto`);
    return { runs: fixedRuns(runs) };
  }
  const order = settings.get("order");
  if (order.value === "consecutive")
    throw usageError(`${runs.source} auto and ${order.source} consecutive: it is decided after each round`);
  const open = settings.find("rate") ?? settings.find("rate-sweep") ?? settings.find("slo");
  if (open)
    throw usageError(
      `${runs.source} auto and ${open.source}: throughput decides, and in an open loop that is what was offered`,
    );
  return {
    runs: numberIn("max-runs", most?.source ?? "--max-runs", most?.value ?? MAX_RUNS),
    adaptive: budget ? { budgetS: budgetS(budget) } : {},
  };
}
