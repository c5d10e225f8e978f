import { type Configuration, configurationHash, type Load } from "../../contract/configuration.js";
import { dimensions } from "../../contract/dimensions.js";
import { isClientLayer, isProgramLayer } from "../../contract/layers.js";
import type { Plan } from "../../contract/plan.js";
import { RANGES } from "../../contract/ranges.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { toTwoDigits } from "../../kit/numbers.js";
import { describeClient } from "../../targets/resolve.js";
import { findProfile } from "../../traffic/lookup.js";
import type { Request } from "../request/request.js";
import { PartFailed } from "../run/part-supervisor.js";
import { CAMPAIGN_COMMAND } from "../ui/command-text.js";
import { configurationText, rateUnit } from "../ui/event-text.js";
import { counted } from "../ui/text.js";

/**
 * Share of the slowest target's throughput: the rest lets every target work off what piled up
 * during a fault.
 */
const SHARE = 0.6;
/** Measured seconds of each target, and of its warm-up. */
const WINDOW_S = 5;
export const CALIBRATION_WARMUP_S = 2;
/** Enough to use up a server, few enough that none of them waits long. */
const CONNECTIONS = 50;

type Calibration = NonNullable<Plan["calibration"]>;

/**
 * What is measured to find the rate: each target in a closed loop, without faults. Controls only
 * where there is nothing else.
 */
export function calibrated({ configurations }: Pick<Plan, "configurations">): Configuration[] {
  const closed = configurations.map(
    ({ configuration: { faults: _, ...rest } }): Configuration => ({
      ...rest,
      load: { model: "closed", connections: Math.min(CONNECTIONS, rest.load.connections) },
      extent: { duration_s: WINDOW_S },
    }),
  );
  const each = [...new Map(closed.map((found) => [configurationHash(found), found])).values()];
  const targets = each.filter(({ target }) => !describeClient(target).control);
  return targets.length > 0 ? targets : each;
}

export const pendingCalibration = (): Calibration => ({
  share: SHARE,
  window_s: WINDOW_S,
  measured: [],
});

export function pendingCalibrationText(plan: Pick<Plan, "configurations">): string {
  const targets = counted(calibrated(plan).length, "target");
  return `the rate is found by calibration before the first run: ${percent(SHARE)} of the slowest throughput of ${targets}, each measured for ${WINDOW_S} s in a closed loop; --rate gives one instead`;
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

function calibrationText({ rate_per_second, share, window_s, measured }: Calibration): string {
  const slowest = measured.toSorted((a, b) => a.requests_per_second - b.requests_per_second)[0];
  const found = slowest ? ` (${slowest.name}: ${Math.round(slowest.requests_per_second)}/s)` : "";
  return `the rate of ${rate_per_second}/s was found by calibration: ${percent(share)} of the slowest throughput in ${window_s} s of a closed loop${found}; --rate ${rate_per_second} repeats it`;
}

/** Measures each configuration once. @throws environmentError where none could be measured */
export async function calibrate(
  configurations: readonly Configuration[],
  throughputOf: (configuration: Configuration) => Promise<number>,
  tell: (text: string) => void,
): Promise<Calibration & { rate_per_second: number }> {
  const measured: Calibration["measured"] = [];
  const failed: string[] = [];
  for (const configuration of configurations) {
    const name = configurationText(configuration);
    const leftOut = (why: string) => {
      failed.push(`${name}: ${why}`);
      tell(`calibration: left out ${name}: ${why}`);
    };
    const requests_per_second = await unlessFailed(throughputOf(configuration), leftOut);
    if (requests_per_second === undefined) continue;
    if (requests_per_second > 0) {
      measured.push({ name, requests_per_second });
      tell(
        `calibration: ${name}: ${Math.round(requests_per_second)} ${rateUnit(configuration.layer)}`,
      );
    } else leftOut("target answered nothing");
  }
  if (measured.length === 0)
    throw environmentError(`no target could be calibrated: give --rate (${failed.join("; ")})`);
  const slowest = Math.min(...measured.map((each) => each.requests_per_second));
  const rate_per_second = Math.min(
    RANGES.rate.max,
    Math.max(RANGES.rate.min, toTwoDigits(SHARE * slowest)),
  );
  return { ...pendingCalibration(), rate_per_second, measured };
}

export function atRate(request: Request, rate: number): Request {
  const { command, settings } = request;
  const isCampaign = command.includes(CAMPAIGN_COMMAND);
  return {
    ...request,
    rates: [rate],
    settings: { ...settings, rate: String(rate) },
    command: isCampaign ? `${command} --rate ${rate}` : `RATE=${rate} ${command}`,
  };
}

export const withCalibration = (plan: Plan, calibration: Calibration): Plan => ({
  ...plan,
  calibration,
  notes: [...plan.notes, calibrationText(calibration)],
});

/** Measured seconds of each trial. */
const TRIAL_S = 5;
/**
 * One more generator that brings less than this is of no use: something else is used up, e.g. the
 * machine's CPUs.
 */
const LEAST_GAIN = 1.02;

const MOST = dimensions.find(({ key }) => key === "generators")?.max ?? 1;

type GeneratorTrials = NonNullable<Plan["generator_trials"]>;

export interface GeneratorTrial {
  /** Whether the generator reached its limit (M6). */
  isSaturated: boolean;
  requests_per_second: number;
}

const hardness = (load: Load): number =>
  load.model === "open" ? load.rate_per_second : load.connections;

/**
 * Each target at its hardest load, without faults; not where one generator makes the load anyway.
 */
export function hardestLoads({ configurations }: Pick<Plan, "configurations">): Configuration[] {
  const hardest = new Map<string, Configuration>();
  for (const { configuration } of configurations) {
    const { faults: _, generators: _alone, ...rest } = configuration;
    const { layer, target, load, traffic } = rest;
    if (isClientLayer(layer) || isProgramLayer(layer) || target.program !== undefined) continue;
    if (findProfile(traffic).binding) continue;
    const trial = { ...rest, extent: { duration_s: TRIAL_S } };
    // Equal but for the load.
    const key = configurationHash({ ...trial, load: { model: "closed", connections: 1 } });
    const found = hardest.get(key);
    if (!found || hardness(load) > hardness(found.load)) hardest.set(key, trial);
  }
  return [...hardest.values()];
}

export const pendingGeneratorsText = (plan: Pick<Plan, "configurations">): string =>
  `the number of generators is found before the first run: of ${counted(hardestLoads(plan).length, "load")}, each measured for ${TRIAL_S} s; --generators N gives one instead`;

export function generatorsText({ generators, window_s, measured }: GeneratorTrials): string {
  const found = `${counted(generators, "generator")}, as trials of ${window_s} s found (M6)`;
  const saturatedWith = (number: number) =>
    measured.find((trial) => trial.generators === number && trial.is_saturated)?.name;
  const [still, before] = [saturatedWith(generators), saturatedWith(generators - 1)];
  const hasMore = measured.some((trial) => trial.generators > generators);
  const why =
    still !== undefined
      ? `: ${still} saturated ${generators === 1 ? "it" : "them"}, and ${hasMore ? "one more sent no more" : "its connections allow no more"}`
      : before === undefined
        ? ""
        : `: ${before} saturated ${generators - 1}`;
  return `${found}${why}; --generators ${generators} repeats it`;
}

/**
 * The fewest generators that none of the loads saturates, one number for all, so that they compare.
 */
export async function generatorsNeeded(
  configurations: readonly Configuration[],
  trialOf: (configuration: Configuration) => Promise<GeneratorTrial>,
  tell: (text: string) => void,
): Promise<GeneratorTrials> {
  const measured: GeneratorTrials["measured"] = [];
  const found = (generators: number): GeneratorTrials => ({
    generators,
    window_s: TRIAL_S,
    measured,
  });
  const most = Math.min(MOST, ...configurations.map(({ load }) => load.connections));
  /** Requests/s of each with one generator less. */
  let before = new Map<Configuration, number>();
  let left = configurations;
  for (let generators = 1; ; generators++) {
    const saturated = new Map<Configuration, number>();
    for (const configuration of left) {
      const asked = generators > 1 ? { ...configuration, generators } : configuration;
      const name = configurationText(asked);
      const trial = await unlessFailed(trialOf(asked), (why) =>
        tell(`generators: left out ${name}: ${why}`),
      );
      if (!trial) continue;
      tell(`generators: ${name}: ${trial.isSaturated ? "saturated" : "enough"}`);
      measured.push({
        name: configurationText(configuration),
        generators,
        requests_per_second: trial.requests_per_second,
        is_saturated: trial.isSaturated,
      });
      if (trial.isSaturated) saturated.set(configuration, trial.requests_per_second);
    }
    if (saturated.size === 0) return found(generators);
    const hasHelped = [...saturated].some(
      ([configuration, rate]) => rate >= LEAST_GAIN * (before.get(configuration) ?? 0),
    );
    if (generators > 1 && !hasHelped) {
      tell(
        `generators: ${generators} send no more than ${generators - 1}: something else is used up`,
      );
      return found(generators - 1);
    }
    if (generators === most) return found(generators);
    before = saturated;
    left = [...saturated.keys()];
  }
}

/**
 * Undefined for a configuration whose trial failed: its runs will fail in the same way, and say so.
 */
const unlessFailed = <Found>(trial: Promise<Found>, leftOut: (why: string) => void) =>
  trial.catch((error: unknown): undefined => {
    if (!(error instanceof PartFailed)) throw error;
    leftOut(`${error.role} ${messageOf(error)}`);
    return undefined;
  });

export function withGenerators(request: Request, generators: number): Request {
  const { command, settings, counts } = request;
  const repeated = command.replace(/(--generators[ =]|\bGENERATORS=)auto\b/, `$1${generators}`);
  return {
    ...request,
    counts: { ...counts, generators: [generators] },
    settings: { ...settings, generators: String(generators) },
    // A campaign file may have asked for it.
    command: repeated === command ? `${command} --generators ${generators}` : repeated,
  };
}
