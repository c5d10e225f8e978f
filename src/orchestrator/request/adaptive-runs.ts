import { usageError } from "../../contract/errors.js";
import { AUTO, badValue, numberIn, RANGES, type Request } from "./request.js";
import type { Settings, SettingValue } from "./setting-layers.js";

const MAX_RUNS = "20";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const MOST_HOURS = 1000;

/** `90s`, `20m` or `1.5h` in seconds. @throws usageError that says so */
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

function fixedRuns({ source, value }: SettingValue): number {
  if (/^\d/.test(value)) return numberIn("runs", source, value);
  const { min, max } = RANGES.runs;
  throw badValue(source, value, `give a whole number from ${min} to ${max}, or auto`);
}

/** Reads `runs`, `max-runs` and `budget`. @throws usageError */
export function runsOf(settings: Settings): Pick<Request, "runs" | "adaptive"> {
  const runs = settings.get("runs");
  const maxRuns = settings.find("max-runs");
  const budget = settings.find("budget");
  if (runs.value !== AUTO) {
    const unused = maxRuns ?? (settings.isOn("find-max-rate") ? undefined : budget);
    const or = unused === budget ? " or --find-max-rate" : "";
    if (unused) throw usageError(`${unused.source} ${unused.value.slice(0, 60)} needs --runs auto${or}`);
    return { runs: fixedRuns(runs) };
  }
  const order = settings.get("order");
  if (order.value === "consecutive")
    throw usageError(
      `${runs.source} auto and ${order.source} consecutive: adaptive runs need interleaved rounds`,
    );
  const open =
    settings.find("rate") ?? settings.find("rate-sweep") ?? settings.find("slo") ?? settings.find("fault");
  if (open)
    throw usageError(
      `${runs.source} auto and ${open.source}: throughput decides, and an open loop fixes the throughput`,
    );
  return {
    runs: numberIn("max-runs", maxRuns?.source ?? "--max-runs", maxRuns?.value ?? MAX_RUNS),
    adaptive: budget ? { budgetS: budgetS(budget) } : {},
  };
}
