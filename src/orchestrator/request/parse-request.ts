import { existsSync } from "node:fs";
import { basename, delimiter, resolve } from "node:path";
import { orders } from "../../contract/plan.js";
import { parsePluginPaths } from "../../contract/plugins.js";
import { RANGES } from "../../contract/ranges.js";
import { storeAddressFrom } from "../../contract/store-url.js";
import { CAMPAIGN_COMMAND, shellWord } from "../../kit/command-text.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { Environment } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
import { TRACE } from "../../traffic/trace.js";
import type { ReadTrace } from "../files/trace-log.js";
import { type OutputMode, progressModes } from "../ui/screen-types.js";
import { placesOf } from "./access.js";
import {
  appDefaults,
  appPlace,
  appReference,
  appTargets,
  reachesOthers,
  recordApps,
  requestedApps,
} from "./app-flags.js";
import { capsFrom, pinnedToOwnCores } from "./caps.js";
import { configCriteria, configLayer } from "./config-file.js";
import { findCampaign, resumedLayers, resumedRequest } from "./existing-campaign.js";
import { faultsOf } from "./fault-flags.js";
import { flagLayer } from "./flags.js";
import {
  requestedClients,
  requestedDiagnosis,
  requestedEntries,
  requestedStoreLayer,
  requestedWorkloads,
} from "./layer-flags.js";
import { durationSetting, hasCurve, requireOneGenerator, requireTurnLength } from "./load-curve.js";
import { presetLayer, presetOf } from "./preset-layer.js";
import { namedPrograms, nodesOf, serviceEnvOf, storeVersionsOf } from "./program-flags.js";
import { openLoopsOf, runsOf } from "./rates.js";
import { assignments, HIDDEN_STORE, SHARED_VARIABLES, withoutSecrets } from "./repeated-command.js";
import type {
  Request,
  RequestedApps,
  RequestedComparisons,
  RequestedLimits,
  RequestedLoad,
  RequestedOutput,
  RequestedPauses,
  RequestedRounds,
  RequestedStart,
  RequestedTargets,
  RequestRecord,
} from "./request.js";
import {
  environmentLayer,
  oneOf,
  type SettingLayer,
  Settings,
  type SettingValue,
} from "./setting-layers.js";
import { AUTO, durationMode, listOf, numberIn, turnIn, warmupIn } from "./setting-values.js";
import { defaultOf } from "./settings.js";
import { plannedRate, thresholdsOf } from "./thresholds.js";
import { requestedTrace } from "./trace-flags.js";

function requestedLimits(settings: Settings): RequestedLimits {
  const block = settings.find("block");
  return definedOnly({
    points: settings.numbers("points"),
    windowsS: settings.numbers("window"),
    costs: settings.numbers("cost"),
    blockS: block && numberIn("block", block.source, block.value),
  });
}

/** The paths of plugins, each once. They are absolute, because each part runs in its own folder. */
function pluginPaths(settings: Settings): string[] {
  const plugin = settings.find("plugin");
  if (!plugin) return [];

  const paths = parsePluginPaths(plugin.value, plugin.source === "PLUGINS" ? delimiter : ",");
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) {
    const shown = JSON.stringify(missing.slice(0, 300));
    throw usageError(`${plugin.source} ${shown}: there is no such file or folder`);
  }
  return [...new Set(paths.map((path) => resolve(path)))];
}

/** Files that an encrypted connection to the user's store takes, and the variables of their paths. */
const STORE_FILES = [
  { key: "store-ca", variable: "STORE_CA" },
  { key: "store-cert", variable: "STORE_CERT" },
  { key: "store-key", variable: "STORE_KEY" },
] as const;

/**
 * The variables by which parts reach the user's store.
 * @throws usageError without the address, which may hold a password
 */
function storeAccessOf(settings: Settings): Record<string, string> {
  const url = settings.find("store-url")?.value;
  const access: Record<string, string> = url ? { STORE_URL: url } : {};
  for (const { key, variable } of STORE_FILES) {
    const path = settings.find(key)?.value;
    if (!path) continue;
    if (!url) throw usageError(`--${key} needs --store-url`);
    access[variable] = resolve(path);
  }

  // Reading the address refuses one that is wrong.
  storeAddressFrom(access);
  return access;
}

/** The seconds before and between runs. @throws usageError */
function pausesOf(settings: Settings): RequestedPauses {
  const warmup = settings.get("warmup");
  const { source, value } = settings.get("cooldown");
  const [betweenRuns = "", betweenClients = betweenRuns, ...others] = value.split(",");
  if (others.length > 0) throw usageError(`${source} ${value}: give one or two numbers of seconds`);

  return {
    warmupS: warmupIn(warmup.source, warmup.value),
    cooldownS: numberIn("cooldown", source, betweenRuns, false),
    clientCooldownS: numberIn("cooldown", source, betweenClients, false),
  };
}

interface Loads {
  load: Omit<RequestedLoad, "traffic" | "trace" | "faults">;
  /** The setting that named the connections. */
  concurrency: SettingValue;
}

/** The loads, and how long each is measured. @throws usageError where they contradict each other */
function loadsFrom(settings: Settings, trace: ReadTrace | undefined, notices: string[]): Loads {
  const { concurrency = settings.get("concurrency"), ...openLoops } = openLoopsOf(settings, trace);
  const connections =
    openLoops.connections ??
    listOf(concurrency.source, concurrency.value, notices).map((text) =>
      numberIn("connections", concurrency.source, text),
    );

  const durationValue = durationSetting(settings);
  const { source, value } = durationValue;
  const duration = durationMode(value, source);
  if (openLoops.objectives && duration.mode === "requests")
    throw usageError(`${source} ${value}: --find-max-rate measures for a time`);
  requireTurnLength(openLoops, duration, durationValue);
  return { load: { ...openLoops, duration, connections }, concurrency };
}

/** The targets, and the limiters, stores, Nodes and frameworks that each is measured with. */
function targetsOf(
  settings: Settings,
  clients: string[],
  nodes: ReadonlyMap<string, string>,
): RequestedTargets {
  const serviceEnv = settings.find("service-env");
  return {
    clients,
    limiters: settings.list("limiter"),
    storeVersions: storeVersionsOf(settings).texts,
    nodes: [...nodes.keys()],
    frameworks: settings.list("framework"),
    serviceEnv: serviceEnv ? serviceEnvOf(serviceEnv) : {},
  };
}

/** The settings that say with what the report compares the results. */
function comparisonsOf(settings: Settings, apps: RequestedApps | undefined): RequestedComparisons {
  const requested = settings.find("reference")?.value;
  const reference = apps ? appReference(apps, requested) : requested;
  const addsReference = reference === AUTO;
  const threshold = settings.find("threshold");
  const margin = settings.get("margin");
  return definedOnly({
    reference: addsReference ? undefined : reference,
    addsReference,
    copies: !settings.isOn("no-copy"),
    marginPercent: numberIn("margin", margin.source, margin.value.replace(/ ?%$/, ""), false),
    comparesFrameworks: settings.isOn("compare-frameworks"),
    thresholds: threshold ? thresholdsOf(threshold, hasCurve(settings)) : [],
    planForPerSecond: plannedRate(settings),
  });
}

const randomSeed = (): number => Math.floor(Math.random() * RANGES.seed.max);

function seedOf(settings: Settings): number {
  const seed = settings.find("seed");
  return seed ? numberIn("seed", seed.source, seed.value) : randomSeed();
}

/** The runs of each configuration, and their order. */
function roundsOf(
  settings: Settings,
  diagnose: RequestedRounds["diagnose"],
  seed: number,
): RequestedRounds {
  const order = oneOf(settings.get("order"), orders);
  const turn = settings.find("turn");
  if (turn && order !== "turns") throw usageError(`${turn.source} needs --order turns`);
  return definedOnly({
    ...runsOf(settings),
    diagnose,
    order,
    turn: turn && turnIn(turn.source, turn.value),
    seed,
  });
}

/** Flags of the output of which at most one can be given. */
const EXCLUSIVE_OUTPUT_KEYS = [
  ["quiet", "verbose", "progress"],
  ["json", "progress"],
] as const;

function outputModeOf(settings: Settings): OutputMode {
  const progress = settings.find("progress");
  const isGiven = (key: string) => settings.isOn(key) || (key === "progress" && progress);
  for (const keys of EXCLUSIVE_OUTPUT_KEYS) {
    const flags = keys.filter(isGiven).map((key) => `--${key}`);
    if (flags.length > 1) throw usageError(`${flags.join(" and ")}: give one of them`);
  }

  const format: OutputMode["format"] = settings.isOn("json") ? "json" : "text";
  return definedOnly({
    format,
    detail: detailOf(settings),
    progress: progress && oneOf(progress, progressModes),
  });
}

function detailOf(settings: Settings): OutputMode["detail"] {
  if (settings.isOn("quiet")) return "quiet";
  return settings.isOn("verbose") ? "verbose" : "normal";
}

interface RecordedValues {
  apps: RequestedApps | undefined;
  seed: number;
  plugins: readonly string[];
  concurrency: SettingValue;
  trace: ReadTrace | undefined;
  hostsFile: string | undefined;
}

/** The settings that the manifest keeps. Paths are absolute, so that any folder can repeat them. */
function recordedSettings(settings: Settings, values: RecordedValues): RequestRecord["settings"] {
  const recorded = settings.record();
  recorded.concurrency = values.concurrency.value;
  recorded["duration-mode"] = durationSetting(settings).value;
  recorded.seed = String(values.seed);
  if (values.apps) recordApps(recorded, values.apps);
  if (values.plugins.length > 0) recorded.plugin = JSON.stringify(values.plugins);
  if (values.trace) {
    recorded.trace = resolve(settings.get("trace").value);
    recorded.traffic = TRACE;
  }
  if (values.hostsFile) recorded.hosts = values.hostsFile;
  return recorded;
}

/** The settings that say where the results go, and what the campaign prints. */
function outputOf(settings: Settings): RequestedOutput {
  const junit = settings.find("junit");
  if (junit && !settings.find("threshold"))
    throw usageError(`${junit.source} writes what thresholds say: give --threshold, too`);
  return definedOnly({
    folder: settings.get("output").value,
    mode: outputModeOf(settings),
    junit: junit && resolve(junit.value),
  });
}

/**
 * The output of a command that measures no targets.
 * @param argv flags of the output alone
 * @throws usageError
 */
export function parseOutput(argv: readonly string[], env: Environment): RequestedOutput {
  const flags = flagLayer(argv) ?? new Map();
  return outputOf(new Settings(layersOf(flags, env), []));
}

/** The settings that say what is started, and what has to hold for that. */
const startOf = (settings: Settings, isStrict: boolean, isOfOthers: boolean): RequestedStart =>
  definedOnly({
    dryRun: settings.isOn("dry-run"),
    planFirst: isOfOthers ? (true as const) : undefined,
    allowParallel: settings.isOn("allow-parallel"),
    strict: isStrict && !settings.isOn("force"),
  });

/**
 * The request that all layers make together.
 * @param layers settings of which later ones override earlier ones
 * @param command gives the command line that repeats the request with a seed
 * @throws usageError
 */
export function requestFromLayers(
  layers: readonly SettingLayer[],
  command: (seed: number) => string,
  notices: string[],
): Request {
  const preset = presetOf(layers);
  const isStrict = preset?.strict === true;
  const defaults = [...(appDefaults(layers) ?? []), ...(preset ? presetLayer(preset) : [])];
  const settings = new Settings(layers, notices, new Map(defaults));

  const apps = requestedApps(settings);
  const entries = requestedEntries(settings, notices);
  const clients = apps ? appTargets(apps) : requestedClients(settings, entries.layers);
  const storeAccess = storeAccessOf(settings);
  const plugins = pluginPaths(settings);
  const trace = requestedTrace(settings, notices);
  const { hostsFile, ...requestedPlace } = placesOf(settings);
  const { access } = requestedPlace;
  const place = apps ? { ...requestedPlace, ...appPlace(apps, requestedPlace) } : requestedPlace;
  const nodes = nodesOf(settings, place.runtime);

  requireOneGenerator(settings, entries, { access });
  const { load, concurrency } = loadsFrom(settings, trace, notices);
  if (load.objectives && entries.findsGenerators)
    throw usageError(`--generators ${AUTO}: --find-max-rate takes a number, e.g. --generators 2`);

  const diagnose = requestedDiagnosis(settings, entries.layers);
  const { rates, objectives, duration } = load;
  const { layers: entryLayers } = entries;
  const surroundings = { layers: entryLayers, rates, objectives, diagnose, mode: duration };
  const faults = faultsOf(settings, definedOnly(surroundings));
  const seed = seedOf(settings);
  const caps = capsFrom(settings);

  // The members are read in this order, which is that of the notices.
  return definedOnly({
    targets: targetsOf(settings, clients, nodes),
    apps,
    comparisons: comparisonsOf(settings, apps),
    storeLayer: requestedStoreLayer(settings, entries.layers),
    entries: { ...entries, ...requestedWorkloads(settings, apps) },
    limits: requestedLimits(settings),
    rounds: roundsOf(settings, diagnose, seed),
    pauses: pausesOf(settings),
    load: definedOnly({
      ...load,
      trace,
      traffic: trace ? [TRACE] : settings.list("traffic"),
      faults,
    }),
    place: {
      ...place,
      caps: isStrict ? pinnedToOwnCores(caps, notices) : caps,
      workers: settings.number("workers"),
      programs: namedPrograms(settings, layers, notices, nodes),
      plugins,
      storeAccess,
    },
    output: { ...outputOf(settings), ...definedOnly({ leadsTo: preset?.leadsTo }) },
    start: startOf(settings, isStrict, apps !== undefined && reachesOthers(apps)),
    record: {
      settings: recordedSettings(settings, { apps, seed, plugins, concurrency, trace, hostsFile }),
      command: storeAccess.STORE_URL ? `${HIDDEN_STORE} ${command(seed)}` : command(seed),
      criteria: [],
    },
    notices,
  });
}

/**
 * The request of `run-all.sh` from flags, environment and file; undefined after help.
 * @throws usageError
 */
export function parseCampaign(argv: readonly string[], env: Environment): Request | undefined {
  const flags = flagLayer(argv);
  if (!flags) return undefined;

  const notices: string[] = [];
  const output = flags.get("output")?.value ?? defaultOf("output");
  const resume = flags.get("resume");
  const existing = resume && findCampaign(output, resume.value);
  const layers = existing
    ? resumedLayers(existing, environmentLayer(env), flags, notices)
    : layersOf(flags, env);

  const isSeeded = layers.some((layer) => layer.has("seed"));
  const command = (seed: number) => {
    const seedWords = isSeeded ? [] : ["--seed", String(seed)];
    const words = [...withoutSecrets(argv), ...seedWords].map(shellWord);
    return [...assignments(SHARED_VARIABLES, env), CAMPAIGN_COMMAND, ...words].join(" ");
  };

  const request = requestFromLayers(layers, command, notices);
  if (!existing) {
    const config = flags.get("config");
    const criteria = config ? configCriteria(config.value) : [];
    return { ...request, record: { ...request.record, criteria } };
  }
  const resumed = resumedRequest(request, existing);
  return { ...resumed, start: { ...resumed.start, resume: basename(existing.folder) } };
}

/** The layers of a new campaign. Flags win over variables, and these over the file. */
function layersOf(flags: SettingLayer, env: Environment): SettingLayer[] {
  const config = flags.get("config");
  const layers = [environmentLayer(env), flags];
  return config ? [configLayer(config.value), ...layers] : layers;
}
