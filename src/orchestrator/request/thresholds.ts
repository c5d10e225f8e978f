import type { Threshold } from "../../contract/manifest.js";
import { usageError } from "../../kit/errors.js";
import { hasCurve } from "./load-curve.js";
import type { Settings, SettingValue } from "./setting-layers.js";
import { badValue, numberIn } from "./setting-values.js";

type Metric = Threshold["metric"];

interface Unit {
  /** Factors from each unit to the unit of the result. */
  factors: Readonly<Record<string, number>>;
  max: number;
}

const MILLISECONDS: Unit = { factors: { ms: 1, us: 0.001, µs: 0.001, s: 1000 }, max: 3_600_000 };
const SHARE: Unit = { factors: { "": 1, "%": 0.01 }, max: 1 };
const CORES: Unit = { factors: { "": 1, "%": 0.01 }, max: 10_000 };

const METRICS: Readonly<Record<Metric, Unit>> = {
  throughput: { factors: { "": 1, "/s": 1 }, max: 1e9 },
  p50: MILLISECONDS,
  p90: MILLISECONDS,
  p95: MILLISECONDS,
  p99: MILLISECONDS,
  p99_9: MILLISECONDS,
  errors: SHARE,
  limited_share: SHARE,
  cpu: { factors: { us: 1, µs: 1, ms: 1000 }, max: 1e9 },
  server_cores: CORES,
  store_cores: CORES,
  service_cores: CORES,
};

const FORM =
  /^(?<metric>[a-z0-9_.]+)\s*(?<op><=|>=|<|>|=)\s*(?<value>\d{1,12}(?:\.\d{1,9})?)\s*(?<unit>%|\/s|[a-zµ]*)(?:\s*(?:±|\+-|\+\/-)\s*(?<tolerance>\d{1,12}(?:\.\d{1,9})?)\s*(?<toleranceUnit>%|\/s|[a-zµ]*))?$/u;

const NAMES = Object.keys(METRICS).join(", ");

/**
 * Reads a list such as `p99<10ms,errors<0.1%,limited_share=0.1±0.01`, also with `+-`.
 * @throws usageError
 */
export function parseThresholds(source: string, text: string): Threshold[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter(Boolean).map((part) => parseThreshold(source, part));
}

/**
 * The thresholds of a campaign.
 * @param isOfCurve whether it has a load curve, which alone has cores at a rate
 * @throws usageError
 */
export function thresholdsOf({ source, value }: SettingValue, isOfCurve: boolean): Threshold[] {
  const thresholds = parseThresholds(source, value);
  const ofCurve = thresholds.find(({ at_per_second }) => at_per_second !== undefined);
  if (!ofCurve || isOfCurve) return thresholds;
  throw badValue(source, ofCurve.text, "cores at a rate come from a load curve: add --load-curve");
}

/** The rate of `plan-for`. @throws usageError where there is no load curve */
export function plannedRate(settings: Settings): number | undefined {
  const setting = settings.find("plan-for");
  if (!setting) return undefined;
  const { source, value } = setting;
  if (!hasCurve(settings))
    throw usageError(
      `${source} ${value.slice(0, 60)} interpolates in a load curve: add --load-curve, or --rates`,
    );
  return rateIn(source, value);
}

const rateIn = (source: string, text: string): number =>
  numberIn("rate", source, text.replace(/ ?\/s$/, ""), false);

/** A threshold with the rate at which it must hold, e.g. `server_cores<0.3@1000/s`. */
function parseThreshold(source: string, text: string): Threshold {
  const [limit = "", rate, ...others] = text.split("@").map((part) => part.trim());
  const threshold = { ...parseLimit(source, limit, text), text };
  const isOfCores = METRICS[threshold.metric] === CORES;
  if (isOfCores !== (rate !== undefined) || others.length > 0)
    throw badValue(
      source,
      text,
      isOfCores ? "give its rate, e.g. server_cores<0.3@1000/s" : "only cores take a rate",
    );
  return rate === undefined ? threshold : { ...threshold, at_per_second: rateIn(source, rate) };
}

/** @param whole the text of the whole threshold, for messages */
function parseLimit(source: string, text: string, whole: string): Threshold {
  const refused = (remedy: string) => badValue(source, whole, remedy);
  const parts = FORM.exec(text)?.groups;
  if (!parts)
    throw refused(`give e.g. p99<10ms, errors<0.1% or limited_share=0.1±0.01; figures: ${NAMES}`);

  const metric = (parts.metric ?? "").replace("p99.9", "p99_9") as Metric;
  const unit = Object.hasOwn(METRICS, metric) ? METRICS[metric] : undefined;
  if (!unit) throw refused(`there is no figure ${parts.metric}: ${NAMES}`);

  const read = (amount = "", name = "") => {
    const factor = unit.factors[name];
    if (factor === undefined) {
      const valid = Object.keys(unit.factors).filter(Boolean).join(", ");
      throw refused(
        name ? `${name} is not a unit of ${metric}: give ${valid}` : `give the unit: ${valid}`,
      );
    }
    const value = Number(amount) * factor;
    if (value > unit.max) throw refused(`give at most ${unit.max}`);
    return value;
  };

  const op = parts.op as Threshold["op"];
  const isExact = op === "=";
  if (isExact !== (parts.tolerance !== undefined))
    throw refused(isExact ? "= needs a tolerance, e.g. =0.1±0.01" : "only = takes a tolerance");

  const threshold = { text, metric, op, value: read(parts.value, parts.unit) };
  if (!isExact) return threshold;
  return { ...threshold, tolerance: read(parts.tolerance, parts.toleranceUnit || parts.unit) };
}
