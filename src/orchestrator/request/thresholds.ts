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
const CORES: Unit = { factors: { "": 1, cores: 1, "%": 0.01 }, max: 10_000 };

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

/**
 * The figures that a load curve has between its rates (M35). A percentile is known only at the rates
 * that were measured.
 */
const INTERPOLATED: readonly Metric[] = ["cpu", "server_cores", "store_cores", "service_cores"];

const FORM =
  /^(?<metric>[a-z0-9_.]+)\s*(?<op><=|>=|<|>|=)\s*(?<value>\d{1,12}(?:\.\d{1,9})?)\s*(?<unit>%|\/s|[a-zµ]*)(?:\s*(?:±|\+-|\+\/-)\s*(?<tolerance>\d{1,12}(?:\.\d{1,9})?)\s*(?<toleranceUnit>%|\/s|[a-zµ]*))?(?:\s*@\s*(?<rate>[^\s/]+)(?:\/s)?)?$/u;

const NAMES = Object.keys(METRICS).join(", ");

/**
 * Reads a list such as `p99<10ms,errors<0.1%,limited_share=0.1±0.01`, also with `+-`. A figure of a
 * load curve takes a rate: `server_cores<0.3@1000/s`.
 * @throws usageError
 */
export function parseThresholds(source: string, text: string): Threshold[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter(Boolean).map((part) => parseThreshold(source, part));
}

/**
 * The thresholds of a campaign.
 * @param isOfCurve whether it has a load curve, which alone has figures at a rate between its own
 * @throws usageError
 */
export function thresholdsOf({ source, value }: SettingValue, isOfCurve: boolean): Threshold[] {
  const thresholds = parseThresholds(source, value);
  const ofCurve = thresholds.find(({ at_per_second }) => at_per_second !== undefined);
  if (!ofCurve || isOfCurve) return thresholds;
  throw badValue(
    source,
    ofCurve.text,
    "a figure at a rate comes from a load curve: add --load-curve",
  );
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

function parseThreshold(source: string, text: string): Threshold {
  const refused = (remedy: string) => badValue(source, text, remedy);
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

  const { rate } = parts;
  if (rate !== undefined && !INTERPOLATED.includes(metric))
    throw refused(`${metric} takes no @rate, only these do: ${INTERPOLATED.join(", ")}`);

  const threshold = {
    text,
    metric,
    op,
    value: read(parts.value, parts.unit),
    ...(rate === undefined ? {} : { at_per_second: rateIn(source, rate) }),
  };
  if (!isExact) return threshold;
  return { ...threshold, tolerance: read(parts.tolerance, parts.toleranceUnit || parts.unit) };
}
