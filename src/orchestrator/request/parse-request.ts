import { existsSync } from "node:fs";
import { basename, delimiter, resolve } from "node:path";
import type { Limits } from "../../contract/configuration.js";
import type { Environment } from "../../contract/env.js";
import { usageError } from "../../contract/errors.js";
import { parsePluginPaths } from "../../contract/plugins.js";
import { storeAddressFrom } from "../../contract/store-url.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { CAMPAIGN_COMMAND, quoted } from "../ui/command-text.js";
import { canAsk } from "../ui/tty.js";
import { type OutputMode, progressModes } from "../ui/types.js";
import { runsOf } from "./adaptive-runs.js";
import { capsFrom, pinnedToOwnCores } from "./caps.js";
import { configLayer } from "./config-file.js";
import { asBegun, findCampaign, resumedPlaces } from "./existing-campaign.js";
import { flagLayer } from "./flags.js";
import { PRESETS, type Preset } from "./presets.js";
import { openLoopsOf } from "./rates.js";
import { durationMode, listOf, numberIn, type Request, workloadsOf } from "./request.js";
import { environmentLayer, type Layer, Settings, type SettingValue } from "./setting-layers.js";
import { SETTINGS, settingOf } from "./settings.js";
import { parseThresholds } from "./thresholds.js";

const LIMITS = [
  { member: "points", key: "points" },
  { member: "window_s", key: "window" },
  { member: "block_s", key: "block" },
] as const;

/** Explicit limits; members that nobody set are absent. */
function explicitLimits(settings: Settings): Partial<Limits> {
  const pairs = LIMITS.flatMap(({ member, key }) => {
    const said = settings.find(key);
    return said ? [[member, numberIn(key, said.source, said.value)] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** Paths of store programs that the user gave. */
function programPaths(settings: Settings): Record<string, string> {
  const pairs = ["valkey-server", "redis-server"].flatMap((program) => {
    const said = settings.find(program);
    return said ? [[program, said.value] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** Absolute, because parts run in folders of their own; each once. */
function pluginPaths(settings: Settings): string[] {
  const said = settings.find("plugin");
  if (!said) return [];
  const paths = parsePluginPaths(said.value, said.source === "PLUGINS" ? delimiter : ",");
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) {
    const shown = JSON.stringify(missing.slice(0, 300));
    throw usageError(`${said.source} ${shown}: there is no such file or folder`);
  }
  return [...new Set(paths.map((path) => resolve(path)))];
}

/**
 * The variables with which programs get into a store that the user already runs; none where we start our own.
 * @throws usageError which never repeats the address: it may hold a password
 */
function storeAccess(settings: Settings): Record<string, string> {
  const url = settings.find("store-url")?.value;
  const ca = settings.find("store-ca")?.value;
  if (ca && !url) throw usageError("--store-ca is of no use without --store-url");
  const access = { ...(url ? { STORE_URL: url } : {}), ...(url && ca ? { STORE_CA: resolve(ca) } : {}) };
  storeAddressFrom(access);
  return access;
}

/** The command's words without the address: whoever repeats it sets STORE_URL. */
function withoutSecrets(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    if (word === "--store-url" || argv[index - 1] === "--store-url") return [];
    return word.startsWith("--store-url=") ? [] : [word];
  });
}

/** The variables that any campaign takes from the environment, but for secrets. */
export const INHERITED: readonly string[] = SETTINGS.flatMap(({ variable, secret }) =>
  variable && !secret ? [variable] : [],
);

/** The variables among `names` that are set, as a shell takes them before a command. */
export const assignments = (names: readonly string[], env: Environment): string[] =>
  names.flatMap((name) => (env[name] ? [`${name}=${quoted(env[name])}`] : []));

function oneOf<Word extends string>({ source, value }: SettingValue, valid: readonly Word[]): Word {
  const found = valid.find((word) => word === value);
  if (found) return found;
  throw usageError(`${source} ${JSON.stringify(value.slice(0, 60))}: give one of ${valid.join(", ")}`);
}

/** A seed that nobody chose: any will do, as long as it is written down. */
const anySeed = (): number => Math.floor(Math.random() * 4_294_967_295);

/** The preset that the places name, the last one counting. @throws usageError when there is none of that name */
function presetOf(places: readonly Layer[]): Preset | undefined {
  const [flags] = places.slice(-1);
  const quick = flags?.get("quick") && "quick";
  const named = places.flatMap((place) => place.get("preset") ?? []).at(-1);
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
  new Map(Object.entries(settings).map(([key, value]) => [key, { source: `preset ${id}: ${key}`, value }]));

function outputModeOf(settings: Settings): OutputMode {
  const [json, quiet, verbose] = ["json", "quiet", "verbose"].map((key) => settings.isOn(key));
  const progress = settings.find("progress");
  for (const told of [
    [quiet && "quiet", verbose && "verbose", progress && "progress"],
    [json && "json", progress && "progress"],
  ]) {
    const given = told.filter(Boolean).map((key) => `--${key}`);
    if (given.length > 1) throw usageError(`${given.join(" and ")}: give one of them`);
  }
  return {
    format: json ? "json" : "text",
    detail: quiet ? "quiet" : verbose ? "verbose" : "normal",
    ...(progress ? { progress: oneOf(progress, progressModes) } : {}),
  };
}

/**
 * What a campaign shall do, of all that was said about it.
 * @param places each wins over those before it
 * @param command the words that repeat it, given the seed
 * @throws usageError in one line
 */
export function requestOf(
  places: readonly Layer[],
  command: (seed: number) => string,
  notices: string[],
): Request {
  const preset = presetOf(places);
  const settings = new Settings(places, notices, preset ? presetLayer(preset) : undefined);
  const number = (key: Parameters<typeof numberIn>[0] & string, whole = true) => {
    const { source, value } = settings.get(key);
    return numberIn(key, source, value, whole);
  };
  const list = (key: string) => {
    const { source, value } = settings.get(key);
    return listOf(source, value, notices);
  };
  const clients = settings.find("clients");
  if (!clients) {
    const menu = canAsk() ? ", or run it without flags to get the menu" : "";
    throw usageError(
      `--clients is missing: give targets or groups, e.g. --clients all, or use --quick${menu}`,
    );
  }
  const access = storeAccess(settings);
  const plugins = pluginPaths(settings);
  const cooldown = settings.get("cooldown");
  const [betweenRuns = "", betweenClients = betweenRuns, ...more] = cooldown.value.split(",");
  if (more.length > 0)
    throw usageError(`${cooldown.source} ${cooldown.value}: give one or two numbers of seconds`);
  const { concurrency = settings.get("concurrency"), ...openLoops } = openLoopsOf(
    settings,
    (key) => places.some((place) => place.has(key)),
    notices,
  );
  const seed = settings.find("seed");
  const chosen = seed ? numberIn("seed", seed.source, seed.value) : anySeed();
  const threshold = settings.find("threshold");
  const duration = settings.get("duration-mode");
  const caps = capsFrom(settings);
  const strict = preset?.strict === true;
  return {
    clients: list("clients"),
    limiters: settings.find("limiter") ? list("limiter") : [],
    workloads: workloadsOf(list("workload")),
    duration: durationMode(duration.value, duration.source),
    connections: listOf(concurrency.source, concurrency.value, notices).map((text) =>
      numberIn("connections", concurrency.source, text),
    ),
    ...openLoops,
    complexity: number("complexity"),
    limits: explicitLimits(settings),
    ...runsOf(settings),
    warmupS: number("warmup", false),
    cooldownS: numberIn("cooldown", cooldown.source, betweenRuns, false),
    clientCooldownS: numberIn("cooldown", cooldown.source, betweenClients, false),
    traffic: list("traffic"),
    runtime: settings.get("runtime").value,
    caps: strict ? pinnedToOwnCores(caps, notices) : caps,
    order: oneOf(settings.get("order"), ["interleaved", "consecutive"]),
    seed: chosen,
    output: settings.get("output").value,
    workers: number("workers"),
    allowParallel: settings.isOn("allow-parallel"),
    programPaths: programPaths(settings),
    plugins,
    storeAccess: access,
    thresholds: threshold ? parseThresholds(threshold.source, threshold.value) : [],
    outputMode: outputModeOf(settings),
    dryRun: settings.isOn("dry-run"),
    strict: strict && !settings.isOn("force"),
    settings: {
      ...settings.record(),
      concurrency: concurrency.value,
      seed: String(chosen),
      // Absolute, so that it can be repeated from anywhere.
      ...(plugins.length > 0 ? { plugin: JSON.stringify(plugins) } : {}),
    },
    command: [...(access.STORE_URL ? ["STORE_URL=…"] : []), command(chosen)].join(" "),
    notices,
  };
}

/**
 * Reads the flags of `run-all.sh`, and the file that they may name.
 * @returns undefined when help was asked for and has been printed
 * @throws usageError in one line
 */
export function parseCampaign(argv: readonly string[], env: Environment): Request | undefined {
  const flags = flagLayer(argv);
  if (!flags) return undefined;
  const notices: string[] = [];
  const output = flags.get("output")?.value ?? settingOf("output").fallback ?? "";
  const resume = flags.get("resume");
  const existing = resume && findCampaign(output, resume.value);
  const config = flags.get("config");
  const places = existing
    ? resumedPlaces(existing, environmentLayer(env), flags, notices)
    : [...(config ? [configLayer(config.value)] : []), environmentLayer(env), flags];
  const asked = withoutSecrets(argv);
  const isSeeded = places.some((place) => place.has("seed"));
  const command = (seed: number) =>
    [
      ...assignments(INHERITED, env),
      CAMPAIGN_COMMAND,
      ...[...asked, ...(isSeeded ? [] : ["--seed", String(seed)])].map(quoted),
    ].join(" ");
  const request = requestOf(places, command, notices);
  return existing ? { ...asBegun(request, existing), resume: basename(existing.folder) } : request;
}
