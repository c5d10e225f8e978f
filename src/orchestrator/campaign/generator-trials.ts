import { type Configuration, configurationHash, type Load } from "../../contract/configuration.js";
import { dimensions } from "../../contract/dimensions.js";
import { isClientLayer, isProgramLayer } from "../../contract/layers.js";
import type { Plan } from "../../contract/plan.js";
import { findProfile } from "../../traffic/lookup.js";
import type { Request } from "../request/request.js";
import { configurationText } from "../ui/event-text.js";
import { counted } from "../ui/text.js";
import { unlessFailed } from "./trial-failures.js";

/** The measured seconds of each trial. */
const TRIAL_S = 5;
/**
 * The least factor by which one more generator must raise the rate. With less, something else is
 * used up, e.g. the machine's CPUs.
 */
const LEAST_GAIN = 1.02;

const MOST_GENERATORS = dimensions.find(({ key }) => key === "generators")?.max ?? 1;

type GeneratorTrials = NonNullable<Plan["generator_trials"]>;

export interface GeneratorTrial {
  /** Whether the generator reached its limit (M6). */
  isSaturated: boolean;
  requests_per_second: number;
}

const hardness = (load: Load): number =>
  load.model === "open" ? load.rate_per_second : load.connections;

/**
 * Each target at its hardest load, without faults. Configurations whose load one generator makes
 * anyway are left out.
 */
export function hardestLoads({ configurations }: Pick<Plan, "configurations">): Configuration[] {
  const hardest = new Map<string, Configuration>();
  for (const { configuration } of configurations) {
    if (hasOneGenerator(configuration)) continue;
    const { faults: _faults, generators: _generators, ...withoutFaults } = configuration;
    const trial = { ...withoutFaults, extent: { duration_s: TRIAL_S } };
    // Trials that differ in their load alone have the same key.
    const key = configurationHash({ ...trial, load: { model: "closed", connections: 1 } });
    const hardestSoFar = hardest.get(key);
    if (!hardestSoFar || hardness(trial.load) > hardness(hardestSoFar.load))
      hardest.set(key, trial);
  }
  return [...hardest.values()];
}

function hasOneGenerator({ layer, target, traffic }: Configuration): boolean {
  if (isClientLayer(layer) || isProgramLayer(layer) || target.program !== undefined) return true;
  return findProfile(traffic).binding !== undefined;
}

export const pendingGeneratorsText = (plan: Pick<Plan, "configurations">): string =>
  `the number of generators is found before the first run: of ${counted(hardestLoads(plan).length, "load")}, each measured for ${TRIAL_S} s; --generators N gives one instead`;

export function generatorsText(trials: GeneratorTrials): string {
  const { generators, window_s } = trials;
  const number = `${counted(generators, "generator")}, as trials of ${window_s} s found (M6)`;
  return `${number}${reasonText(trials)}; --generators ${generators} repeats it`;
}

/** Why there are so many generators, after a colon; empty where one is enough for all loads. */
function reasonText({ generators, measured }: GeneratorTrials): string {
  const saturatedWith = (number: number) =>
    measured.find((trial) => trial.generators === number && trial.is_saturated)?.name;
  const saturated = saturatedWith(generators);
  if (saturated !== undefined) {
    const hasMore = measured.some((trial) => trial.generators > generators);
    const end = hasMore ? "one more sent no more" : "its connections allow no more";
    return `: ${saturated} saturated ${generators === 1 ? "it" : "them"}, and ${end}`;
  }
  const saturatedBefore = saturatedWith(generators - 1);
  return saturatedBefore === undefined ? "" : `: ${saturatedBefore} saturated ${generators - 1}`;
}

export const withGeneratorTrials = (plan: Plan, trials: GeneratorTrials): Plan => ({
  ...plan,
  generator_trials: trials,
  notes: [...plan.notes, generatorsText(trials)],
});

/** The requests/s of each load that saturated its generators. */
type SaturatingLoads = ReadonlyMap<Configuration, number>;

/**
 * Finds the fewest generators that none of the loads saturates. All loads get the same number, so
 * that they can be compared.
 */
export async function generatorsNeeded(
  configurations: readonly Configuration[],
  trialOf: (configuration: Configuration) => Promise<GeneratorTrial>,
  tell: (text: string) => void,
): Promise<GeneratorTrials> {
  const measured: GeneratorTrials["measured"] = [];
  const trialsWith = (generators: number): GeneratorTrials => ({
    generators,
    window_s: TRIAL_S,
    measured,
  });

  const trySaturating = async (
    loads: readonly Configuration[],
    generators: number,
  ): Promise<SaturatingLoads> => {
    const saturated = new Map<Configuration, number>();
    for (const configuration of loads) {
      const requested = generators > 1 ? { ...configuration, generators } : configuration;
      const name = configurationText(requested);
      const trial = await unlessFailed(trialOf(requested), (reason) =>
        tell(`generators: left out ${name}: ${reason}`),
      );
      if (!trial) continue;
      const { isSaturated, requests_per_second } = trial;
      tell(`generators: ${name}: ${isSaturated ? "saturated" : "enough"}`);
      measured.push({
        name: configurationText(configuration),
        generators,
        requests_per_second,
        is_saturated: isSaturated,
      });
      if (isSaturated) saturated.set(configuration, requests_per_second);
    }
    return saturated;
  };

  const mostGenerators = Math.min(
    MOST_GENERATORS,
    ...configurations.map(({ load }) => load.connections),
  );
  let previous: SaturatingLoads = new Map();
  let loads = configurations;
  for (let generators = 1; ; generators++) {
    const saturated = await trySaturating(loads, generators);
    if (saturated.size === 0) return trialsWith(generators);
    if (generators > 1 && !hasGained(previous, saturated)) {
      tell(
        `generators: ${generators} send no more than ${generators - 1}: something else is used up`,
      );
      return trialsWith(generators - 1);
    }
    if (generators === mostGenerators) return trialsWith(generators);
    previous = saturated;
    loads = [...saturated.keys()];
  }
}

/** Whether one more generator has helped at least one of the loads. */
const hasGained = (before: SaturatingLoads, after: SaturatingLoads): boolean =>
  [...after].some(([configuration, rate]) => rate >= LEAST_GAIN * (before.get(configuration) ?? 0));

/** The request with the number of generators that trials have found. */
export function withGenerators(request: Request, generators: number): Request {
  const { entries } = request;
  const { command, settings } = request.record;
  const repeated = command.replace(/(--generators[ =]|\bGENERATORS=)auto\b/, `$1${generators}`);
  return {
    ...request,
    entries: { ...entries, counts: { ...entries.counts, generators: [generators] } },
    record: {
      ...request.record,
      settings: { ...settings, generators: String(generators) },
      // Where a campaign file asked for it, the command line names no generators yet.
      command: repeated === command ? `${command} --generators ${generators}` : repeated,
    },
  };
}
