import { existsSync } from "node:fs";
import { basename, delimiter, resolve } from "node:path";
import { byDimension, type DimensionKey, USUAL } from "../../contract/dimensions.js";
import { isProgramLayer, layerIds } from "../../contract/layers.js";
import { orders } from "../../contract/plan.js";
import { parsePluginPaths } from "../../contract/plugins.js";
import { RANGES } from "../../contract/ranges.js";
import { storeAddressFrom } from "../../contract/store-url.js";
import type { Environment } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { findOperation, operationIds } from "../../targets/load-programs/operations.js";
import { TRACE } from "../../traffic/trace.js";
import { type ReadTrace, readTrace } from "../files/trace-log.js";
import { CAMPAIGN_COMMAND, quoted } from "../ui/command-text.js";
import { type OutputMode, progressModes } from "../ui/screen-types.js";
import { isInteractive } from "../ui/tty.js";
import { placesOf } from "./access.js";
import { capsFrom, pinnedToOwnCores } from "./caps.js";
import { configLayer } from "./config-file.js";
import { findCampaign, resumedLayers, resumedRequest } from "./existing-campaign.js";
import { faultsOf } from "./fault-flags.js";
import { flagLayer } from "./flags.js";
import { PRESETS, type Preset } from "./presets.js";
import { namedPrograms, nodesOf, serviceEnvOf, storeVersionsOf } from "./program-flags.js";
import { openLoopsOf, runsOf } from "./rates.js";
import {
  AUTO,
  countsIn,
  durationMode,
  listOf,
  numberIn,
  type Request,
  type RequestedLimits,
  warmupIn,
  workloadsOf,
} from "./request.js";
import {
  environmentLayer,
  type Layer,
  oneOf,
  Settings,
  type SettingValue,
} from "./setting-layers.js";
import { ALONE, DEFAULT_PAYLOAD_BYTES, DEFAULT_STORES, defaultOf, SETTINGS } from "./settings.js";
import { parseThresholds } from "./thresholds.js";

function explicitLimits(settings: Settings): RequestedLimits {
  const block = settings.find("block");
  return {
    points: settings.numbers("points"),
    windowsS: settings.numbers("window"),
    costs: settings.numbers("cost"),
    ...(block ? { blockS: numberIn("block", block.source, block.value) } : {}),
  };
}

/** Absolute paths, because each part runs in its own folder; without duplicates. */
function pluginPaths(settings: Settings): string[] {
  const given = settings.find("plugin");
  if (!given) return [];
  const paths = parsePluginPaths(given.value, given.source === "PLUGINS" ? delimiter : ",");
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) {
    const shown = JSON.stringify(missing.slice(0, 300));
    throw usageError(`${given.source} ${shown}: there is no such file or folder`);
  }
  return [...new Set(paths.map((path) => resolve(path)))];
}

/**
 * What a trace's reader should know beside its plan; it holds no key, because the campaign's log
 * keeps it.
 */
function traceNotices(
  { format, example, left_out, zero_bytes, cost }: ReadTrace,
  source: string,
): string[] {
  const zone = example.names_zone ? "" : "; its times name no zone";
  return [
    `${source}: read as ${format}, the time in ${example.time}, the key in ${example.keys.join(" or ")}${zone}`,
    ...(left_out > 0 ? [`${source}: ${left_out} lines without a time or a key are left out`] : []),
    ...(zero_bytes > 0
      ? [
          `${source}: ${zero_bytes} bytes of zeros are left out: the log was truncated while it was written`,
        ]
      : []),
    ...(cost.most > 1
      ? [
          `${source}: its costs are ${cost.least} to ${cost.most}; here all requests have the same: give --cost`,
        ]
      : []),
  ];
}

/** @throws usageError for a file that cannot be read, and beside another traffic */
function traceOf(
  settings: Settings,
  isGiven: (key: string) => boolean,
  notices: string[],
): ReadTrace | undefined {
  const given = settings.find("trace");
  if (!given) {
    const alone = settings.find("key") ?? settings.find("trace-zone");
    if (alone) throw usageError(`${alone.source} needs --trace`);
    return undefined;
  }
  const other = settings.get("traffic");
  if (isGiven("traffic") && other.value !== TRACE)
    throw usageError(`${given.source} and ${other.source}: give one of them`);
  const trace = readTrace(given.value, {
    source: given.source,
    keys: settings.list("key"),
    zone: settings.find("trace-zone")?.value,
  });
  notices.push(...traceNotices(trace, given.source));
  return trace;
}

/**
 * Variables that reach the user's store. @throws usageError without the address: it may hold a
 * password
 */
function storeAccess(settings: Settings): Record<string, string> {
  const url = settings.find("store-url")?.value;
  const access: Record<string, string> = url ? { STORE_URL: url } : {};
  for (const [key, variable] of [
    ["store-ca", "STORE_CA"],
    ["store-cert", "STORE_CERT"],
    ["store-key", "STORE_KEY"],
  ] as const) {
    const path = settings.find(key)?.value;
    if (!path) continue;
    if (!url) throw usageError(`--${key} needs --store-url`);
    access[variable] = resolve(path);
  }
  storeAddressFrom(access);
  return access;
}

/**
 * The command without the store's address, which may hold a password: to repeat the command, set
 * STORE_URL.
 */
export function withoutSecrets(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    if (word === "--store-url" || argv[index - 1] === "--store-url") return [];
    return word.startsWith("--store-url=") ? [] : [word];
  });
}

/** The variables that campaigns and single runs share, except secrets. */
export const SHARED_VARIABLES: readonly string[] = SETTINGS.flatMap(({ variable, secret }) =>
  variable && !secret ? [variable] : [],
);

export const assignments = (names: readonly string[], env: Environment): string[] =>
  names.flatMap((name) => (env[name] ? [`${name}=${quoted(env[name])}`] : []));

/**
 * Where the load enters, and each dimension's numbers. @throws usageError for one that no layer has
 */
function entriesOf(
  settings: Settings,
  notices: string[],
): Pick<Request, "layers" | "counts" | "findsGenerators"> {
  const { source: layerSource } = settings.get("layer");
  const layers = settings
    .list("layer")
    .map((value) => oneOf({ source: layerSource, value }, layerIds));
  const found = new Set<DimensionKey>();
  const counts = byDimension((dimension) => {
    const { key, one, layers: own } = dimension;
    const given = settings.find(key);
    if (!given) return [USUAL];
    const { source, value } = given;
    if (!layers.some((layer) => own.some((each) => each === layer)))
      throw usageError(
        `${source} ${value.slice(0, 60)}: there is no ${one} of ours at the ${layers[0]} layer`,
      );
    const numbers = countsIn(dimension, source, value, notices);
    if (numbers !== AUTO) return numbers;
    found.add(key);
    return [USUAL];
  });
  return { layers, counts, ...(found.has("generators") ? { findsGenerators: true as const } : {}) };
}

const STORE_LAYER_KEYS = ["stores", "operations", "payload-bytes"] as const;

/** What the store layer measures. @throws usageError */
function storeLayerOf(
  settings: Settings,
  layers: Request["layers"],
): Pick<Request, "stores" | "operations" | "payloadBytes"> {
  if (!layers.some(isProgramLayer)) {
    const useless = STORE_LAYER_KEYS.flatMap((key) => settings.find(key) ?? [])[0];
    if (useless) throw usageError(`${useless.source} is for the store layer: add --layer store`);
    return { stores: [], operations: [], payloadBytes: [] };
  }
  for (const key of ["store-url", "rate", "rate-sweep", "slo", "fault"]) {
    const given = settings.find(key);
    if (given) throw usageError(`${given.source}: the store layer cannot use it: leave it out`);
  }
  const runs = settings.get("runs");
  if (runs.value === AUTO)
    throw usageError(`${runs.source} ${AUTO}: give the number of runs at the store layer`);
  const listOr = (key: string, otherwise: readonly string[]) =>
    settings.find(key) ? settings.list(key) : [...otherwise];
  const operations = listOr("operations", operationIds);
  for (const id of operations) findOperation(id);
  const payloadBytes = settings.numbers("payload-bytes");
  return {
    stores: listOr("stores", DEFAULT_STORES),
    operations,
    payloadBytes: payloadBytes.length > 0 ? payloadBytes : [DEFAULT_PAYLOAD_BYTES],
  };
}

/** @throws usageError where a layer needs targets and none are named, or no layer has any */
function clientsOf(settings: Settings, layers: Request["layers"]): SettingValue | undefined {
  const clients = settings.find("clients");
  if (layers.every(isProgramLayer)) {
    const flag = clients?.source === "--clients" ? clients : undefined;
    const useless = flag ?? settings.find("store-versions") ?? settings.find("node");
    if (useless)
      throw usageError(
        `${useless.source}: the store layer has none: name the servers with --stores`,
      );
    return undefined;
  }
  if (clients) return clients;
  const menu = isInteractive() ? ", or run it without flags to get the menu" : "";
  throw usageError(
    `--clients is missing: give targets or groups, e.g. --clients all, or use --quick${menu}`,
  );
}

/** @throws usageError where nothing has instruments, or where every trial would get one run more */
function diagnoseOf(
  settings: Settings,
  { layers }: Pick<Request, "layers">,
): Pick<Request, "diagnose"> {
  const given = settings.find("diagnose");
  if (!given || given.value === "false") return {};
  const value = oneOf(given, ["true", ALONE]);
  if (layers.every(isProgramLayer))
    throw usageError(`${given.source}: the store layer has no instruments: leave it out`);
  if (settings.isOn("find-max-rate"))
    throw usageError(`${given.source} and --find-max-rate: give one of them`);
  return { diagnose: value === ALONE ? "alone" : "after" };
}

const randomSeed = (): number => Math.floor(Math.random() * RANGES.seed.max);

/** The preset of the last layer that names one. @throws usageError if it does not exist */
function presetOf(layers: readonly Layer[]): Preset | undefined {
  const flags = layers.at(-1);
  const quick = flags?.get("quick") && "quick";
  const named = layers.flatMap((layer) => layer.get("preset") ?? []).at(-1);
  if (quick && named?.source === "--preset" && named.value !== quick)
    throw usageError(`--quick and --preset ${named.value}: give one of them`);
  const id = quick ?? named?.value;
  if (id === undefined) return undefined;
  const found = PRESETS.find((preset) => preset.id === id);
  if (found) return found;
  const ids = PRESETS.map((preset) => preset.id);
  throw usageError(
    `${named?.source}: there is no preset ${JSON.stringify(id.slice(0, 60))}${didYouMean(id, ids)}`,
  );
}

const presetLayer = ({ id, settings }: Preset): Layer =>
  new Map(
    Object.entries(settings).map(([key, value]) => [
      key,
      { source: `preset ${id}: ${key}`, value },
    ]),
  );

function outputModeOf(settings: Settings): OutputMode {
  const [json, quiet, verbose] = ["json", "quiet", "verbose"].map((key) => settings.isOn(key));
  const progress = settings.find("progress");
  for (const exclusive of [
    [quiet && "quiet", verbose && "verbose", progress && "progress"],
    [json && "json", progress && "progress"],
  ]) {
    const given = exclusive.filter(Boolean).map((key) => `--${key}`);
    if (given.length > 1) throw usageError(`${given.join(" and ")}: give one of them`);
  }
  return {
    format: json ? "json" : "text",
    detail: quiet ? "quiet" : verbose ? "verbose" : "normal",
    ...(progress ? { progress: oneOf(progress, progressModes) } : {}),
  };
}

/**
 * @param layers later override earlier @param command repeats it, given its seed @throws usageError
 */
export function requestFromLayers(
  layers: readonly Layer[],
  command: (seed: number) => string,
  notices: string[],
): Request {
  const preset = presetOf(layers);
  const settings = new Settings(layers, notices, preset ? presetLayer(preset) : undefined);
  const number = (key: Parameters<typeof numberIn>[0] & string) => {
    const { source, value } = settings.get(key);
    return numberIn(key, source, value);
  };
  const entries = entriesOf(settings, notices);
  const clients = clientsOf(settings, entries.layers);
  const access = storeAccess(settings);
  const plugins = pluginPaths(settings);
  const isGiven = (key: string): boolean => layers.some((layer) => layer.has(key));
  const trace = traceOf(settings, isGiven, notices);
  const places = placesOf(settings);
  const nodes = nodesOf(settings, places.runtime);
  const warmup = settings.get("warmup");
  const cooldown = settings.get("cooldown");
  const [betweenRuns = "", betweenClients = betweenRuns, ...more] = cooldown.value.split(",");
  if (more.length > 0)
    throw usageError(`${cooldown.source} ${cooldown.value}: give one or two numbers of seconds`);
  const { concurrency = settings.get("concurrency"), ...openLoops } = openLoopsOf(
    settings,
    isGiven,
    trace,
  );
  const seed = settings.find("seed");
  const seedNumber = seed ? numberIn("seed", seed.source, seed.value) : randomSeed();
  const threshold = settings.find("threshold");
  const reference = settings.find("reference");
  const serviceEnv = settings.find("service-env");
  const duration = settings.get("duration-mode");
  const mode = durationMode(duration.value, duration.source);
  if (openLoops.objectives && mode.mode === "requests")
    throw usageError(`${duration.source} ${duration.value}: --find-max-rate measures for a time`);
  if (openLoops.objectives && entries.findsGenerators)
    throw usageError(`--generators ${AUTO}: --find-max-rate takes a number, e.g. --generators 2`);
  const diagnose = diagnoseOf(settings, entries);
  const faults = faultsOf(settings, { ...entries, ...openLoops, ...diagnose, mode });
  const caps = capsFrom(settings);
  const strict = preset?.strict === true;
  return {
    clients: clients ? settings.list("clients") : [],
    limiters: settings.list("limiter"),
    storeVersions: storeVersionsOf(settings).texts,
    nodes: [...nodes.keys()],
    frameworks: settings.list("framework"),
    comparesFrameworks: settings.isOn("compare-frameworks"),
    ...entries,
    ...storeLayerOf(settings, entries.layers),
    workloads: workloadsOf(settings.list("workload")),
    duration: mode,
    connections: listOf(concurrency.source, concurrency.value, notices).map((text) =>
      numberIn("connections", concurrency.source, text),
    ),
    ...openLoops,
    complexity: number("complexity"),
    limits: explicitLimits(settings),
    serviceEnv: serviceEnv ? serviceEnvOf(serviceEnv) : {},
    ...runsOf(settings),
    ...diagnose,
    faults,
    ...(reference && reference.value !== AUTO ? { reference: reference.value } : {}),
    addsReference: reference?.value === AUTO,
    copies: !settings.isOn("no-copy"),
    warmupS: warmupIn(warmup.source, warmup.value),
    cooldownS: numberIn("cooldown", cooldown.source, betweenRuns, false),
    clientCooldownS: numberIn("cooldown", cooldown.source, betweenClients, false),
    ...(trace ? { trace } : {}),
    traffic: trace ? [TRACE] : settings.list("traffic"),
    runtime: places.runtime,
    access: places.access,
    caps: strict ? pinnedToOwnCores(caps, notices) : caps,
    order: oneOf(settings.get("order"), orders),
    seed: seedNumber,
    output: settings.get("output").value,
    workers: number("workers"),
    allowParallel: settings.isOn("allow-parallel"),
    programs: namedPrograms(settings, layers, notices, nodes),
    plugins,
    storeAccess: access,
    thresholds: threshold ? parseThresholds(threshold.source, threshold.value) : [],
    outputMode: outputModeOf(settings),
    dryRun: settings.isOn("dry-run"),
    strict: strict && !settings.isOn("force"),
    settings: {
      ...settings.record(),
      concurrency: concurrency.value,
      seed: String(seedNumber),
      // Absolute, so that the campaign can be repeated from any folder.
      ...(plugins.length > 0 ? { plugin: JSON.stringify(plugins) } : {}),
      ...(trace ? { trace: resolve(settings.get("trace").value), traffic: TRACE } : {}),
      ...(places.hostsFile ? { hosts: places.hostsFile } : {}),
    },
    command: [...(access.STORE_URL ? ["STORE_URL=…"] : []), command(seedNumber)].join(" "),
    notices,
  };
}

/**
 * The request of `run-all.sh`: flags, environment, file; undefined after help. @throws usageError
 */
export function parseCampaign(argv: readonly string[], env: Environment): Request | undefined {
  const flags = flagLayer(argv);
  if (!flags) return undefined;
  const notices: string[] = [];
  const output = flags.get("output")?.value ?? defaultOf("output");
  const resume = flags.get("resume");
  const existing = resume && findCampaign(output, resume.value);
  const config = flags.get("config");
  const layers = existing
    ? resumedLayers(existing, environmentLayer(env), flags, notices)
    : [...(config ? [configLayer(config.value)] : []), environmentLayer(env), flags];
  const publicArgv = withoutSecrets(argv);
  const isSeeded = layers.some((layer) => layer.has("seed"));
  const command = (seed: number) =>
    [
      ...assignments(SHARED_VARIABLES, env),
      CAMPAIGN_COMMAND,
      ...[...publicArgv, ...(isSeeded ? [] : ["--seed", String(seed)])].map(quoted),
    ].join(" ");
  const request = requestFromLayers(layers, command, notices);
  return existing
    ? { ...resumedRequest(request, existing), resume: basename(existing.folder) }
    : request;
}
