import { DEFAULT_POOL } from "../../contract/configuration.js";
import { DEFAULT_COUNT } from "../../contract/dimensions.js";
import { isProgramLayer } from "../../contract/layers.js";
import { CURVE_SLICE_S } from "../../contract/turns.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { CUSTOM_DURATION } from "./durations.js";
import type { DurationMode, RequestedEntries, RequestedLoad, RequestedPlace } from "./request.js";
import type { Settings, SettingValue } from "./setting-layers.js";
import { AUTO, numberIn } from "./setting-values.js";

/** The most rates of a load curve, which bound the time of a round and the runs of a group. */
const MOST_RATES = 10;

/** The fewest requests of a turn, because fewer say nothing about the cost of one. */
const LEAST_REQUESTS = 20;

/** The connections at full load, unless the user or a preset names others. */
const FULL_LOAD_CONNECTIONS = "50";

/** The measured seconds of a turn, unless the user or a preset names others. */
const DEFAULT_TURN = `${CUSTOM_DURATION}3`;

/**
 * The shares of the slowest target's throughput that a load curve takes as its rates where none are
 * given.
 */
export const CURVE_SHARES: readonly number[] = [0.02, 0.05, 0.1, 0.25, 0.5, 0.75];

/** The throughput that stands in the place of the slowest target's until it is measured. */
const NOT_MEASURED_PER_SECOND = 10_000;

/** The rates of plans whose rates are not found yet. */
export const PLACEHOLDER_RATES: readonly number[] = CURVE_SHARES.map(
  (share) => share * NOT_MEASURED_PER_SECOND,
);

/** The share of the slowest throughput that a rate of such a plan stands for. */
export const shareOfPlaceholder = (rate: number): number => rate / NOT_MEASURED_PER_SECOND;

export const hasCurve = (settings: Settings): boolean =>
  settings.isOn("load-curve") || settings.find("rates") !== undefined;

/** The settings that contradict a load curve, with what the message says besides. */
const CONTRADICTIONS: readonly { key: string; reason: string }[] = [
  { key: "rate", reason: "continuous windows and turns are two campaigns: give one of them" },
  { key: "rate-sweep", reason: "give the rates with --rates instead" },
  { key: "find-max-rate", reason: "a search chooses its own rates: give one of them" },
  { key: "fault", reason: "a fault comes at a fixed time, and a turn is short: give one of them" },
  { key: "trace", reason: "a trace is sent in its own order and not by turns: give one of them" },
  { key: "trace-speed", reason: "it is for --trace: leave it out" },
  { key: "slo", reason: "it is for --find-max-rate: leave it out" },
  { key: "diagnose", reason: "instruments cost CPU time, which the curve shows: give one of them" },
  { key: "turn", reason: "--duration-mode gives the length of its turns: leave it out" },
];

/** @throws usageError where the other settings contradict a load curve */
function requireAlone(settings: Settings): void {
  const curve = curveSource(settings);
  for (const { key, reason } of CONTRADICTIONS) {
    const setting = settings.find(key);
    if (!setting || setting.value === "false" || (key === "fault" && setting.value === "none"))
      continue;
    throw usageError(`${curve} and ${setting.source}: ${reason}`);
  }
  const order = settings.get("order");
  if (order.value !== "turns")
    throw usageError(
      `${curve} and ${order.source} ${order.value.slice(0, 60)}: a load curve goes by turns: leave ${order.source} out`,
    );
  const runs = settings.get("runs");
  if (runs.value === AUTO)
    throw usageError(
      `${curve} and ${runs.source} ${AUTO}: throughput decides, and a curve has fixed rates: give a number`,
    );
}

const curveSource = (settings: Settings): string =>
  settings.find("rates")?.source ?? settings.get("load-curve").source;

/** The load of a curve, and the setting of its connections. */
type CurveLoad = Pick<RequestedLoad, "rates" | "curve" | "connections"> & {
  concurrency: SettingValue;
};

/**
 * The rates of a load curve, and whether its targets are also measured at full load; undefined where
 * none is requested.
 * @throws usageError
 */
export function curveOf(settings: Settings): CurveLoad | undefined {
  if (!hasCurve(settings)) return undefined;
  requireAlone(settings);

  const ratesFlag = settings.find("rates");
  const rates = ratesFlag
    ? settings.list("rates").map((text) => numberIn("rate", ratesFlag.source, text, false))
    : [...PLACEHOLDER_RATES];
  if (ratesFlag && rates.length > MOST_RATES)
    throw usageError(`${ratesFlag.source}: ${rates.length} rates: give at most ${MOST_RATES}`);
  const ascending = rates.toSorted((a, b) => a - b);

  const hasFullLoad = settings.isOn("load-curve");
  const fallback = hasFullLoad ? FULL_LOAD_CONNECTIONS : String(DEFAULT_POOL);
  // The connections of a preset are meant for full load.
  const isNamed = hasFullLoad ? settings.isSet("concurrency") : settings.isGiven("concurrency");
  const concurrency = isNamed
    ? settings.get("concurrency")
    : { source: "--concurrency", value: fallback };
  const connections = numberIn("connections", concurrency.source, concurrency.value.trim());
  const curve = definedOnly({
    saturation: hasFullLoad ? connections : undefined,
    choosesRates: ratesFlag ? undefined : (true as const),
  });
  // The connections of full load are too few for a rate, whose requests do not wait for answers.
  const pool = hasFullLoad ? Math.max(DEFAULT_POOL, connections) : connections;
  return { rates: ascending, curve, connections: [pool], concurrency };
}

/** The length of a run: that of a turn, where there is a load curve and no other was set. */
export const durationSetting = (settings: Settings): SettingValue =>
  hasCurve(settings) && !settings.isSet("duration-mode")
    ? { source: "--duration-mode", value: DEFAULT_TURN }
    : settings.get("duration-mode");

/** @throws usageError where a turn would be too short or too long for the rates */
export function requireTurnLength(
  { rates, curve }: Pick<RequestedLoad, "rates" | "curve">,
  mode: DurationMode,
  { source, value }: SettingValue,
): void {
  if (!curve) return;
  const { min, max } = CURVE_SLICE_S;
  const refused = (reason: string) =>
    usageError(
      `${source} ${value}: ${reason}: give ${CUSTOM_DURATION}N with ${min} to ${max} seconds`,
    );
  if (mode.mode !== "fixed") throw refused("a turn of a load curve lasts for a fixed time");
  if (mode.seconds < min) throw refused("a turn of a load curve is longer");
  if (mode.seconds > max) throw refused("a turn of a load curve is shorter");

  const [lowest = 0] = rates;
  if (lowest * mode.seconds >= LEAST_REQUESTS) return;
  throw usageError(
    `--rates ${lowest}: a turn of ${mode.seconds} s has fewer than ${LEAST_REQUESTS} requests: give at least ${Math.ceil(LEAST_REQUESTS / mode.seconds)}`,
  );
}

/** @throws usageError where the load of a curve would enter elsewhere than through one generator */
export function requireOneGenerator(
  settings: Settings,
  {
    layers,
    counts,
    findsGenerators,
  }: Pick<RequestedEntries, "layers" | "counts" | "findsGenerators">,
  { access }: Pick<RequestedPlace, "access">,
): void {
  if (!hasCurve(settings)) return;
  const curve = curveSource(settings);
  if (layers.some(isProgramLayer))
    throw usageError(
      `${curve}: at the store layer a load program makes the load, and it has no rates: give --layer server or limiter`,
    );
  if (findsGenerators || counts.generators.some((count) => count > DEFAULT_COUNT))
    throw usageError(
      `${curve} and --generators: one generator gives the turns of a load curve: leave --generators out`,
    );
  if (Object.values(access).some((place) => place !== undefined))
    throw usageError(
      `${curve}: a load curve needs all targets on one machine: give --runtime local, docker or podman without --hosts`,
    );
}
