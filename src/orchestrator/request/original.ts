import { type Command, Option } from "commander";
import { z } from "zod";
import { formatTargetText, idSchema, parseTargetText } from "../../contract/target.js";
import { shellWord } from "../../kit/command-text.js";
import { definedOnly } from "../../kit/defined-only.js";
import { type Environment, isOn, readEnv, switchText } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
import { stores } from "../../targets/stores/index.js";
import { isCluster } from "../../targets/topologies.js";
import { createCommand } from "./command-line.js";
import { CUSTOM_DURATION } from "./durations.js";
import { helpTable } from "./flag-help.js";
import { flagLayer, layerOf, optionOf } from "./flags.js";
import { parseCampaign, requestFromLayers } from "./parse-request.js";
import { ORIGINAL } from "./presets.js";
import { assignments, SHARED_VARIABLES, withoutSecrets } from "./repeated-command.js";
import { LIMIT_FLAGS, type Request } from "./request.js";
import { environmentLayer, type SettingLayer, type SettingValue } from "./setting-layers.js";
import type { Setting, SingleRunVariable } from "./setting-types.js";
import { GROUPS, SETTINGS } from "./settings.js";

/** Topics whose settings do not change what is measured. */
const NEUTRAL_TOPICS: readonly string[] = ["machines", "programs", "output"];

/** Settings of these topics that choose another campaign all the same. */
const KEYS_OF_ANOTHER_CAMPAIGN: readonly string[] = ["config", "resume", "legacy"];

/** Settings that say where a campaign runs and what it prints, and not what it measures. */
const NEUTRAL_KEYS: readonly string[] = GROUPS.filter(({ topic }) => NEUTRAL_TOPICS.includes(topic))
  .flatMap(({ settings }) => settings.map(({ key }) => key))
  .filter((key) => !KEYS_OF_ANOTHER_CAMPAIGN.includes(key));

type FilledSetting = readonly [key: string, value: string];

function filledInNotice(filled: readonly FilledSetting[]): string[] {
  if (filled.length === 0) return [];
  const flags = filled.map(([key, value]) => `--${key} "${value}"`).join(" ");
  return [`filled in as the original does: ${flags}`];
}

/**
 * A campaign from flags. A command line with flags of the original, and otherwise only with flags
 * that change nothing in the plan, means what it meant there. The settings that it leaves open are
 * filled in, and the plan is shown before the start.
 * @returns undefined where the flags asked for help, which has been printed
 * @throws usageError in one line
 */
export function parseRunAll(argv: readonly string[], env: Environment): Request | undefined {
  const flags = flagLayer(argv);
  if (!flags) return undefined;

  const keys = [...flags.keys()];
  const isOriginal =
    keys.some((key) => key in ORIGINAL) &&
    keys.every((key) => key in ORIGINAL || NEUTRAL_KEYS.includes(key));
  if (!isOriginal) return parseCampaign(argv, env);

  const filled = Object.entries(ORIGINAL).filter(([key]) => !flags.has(key));
  const filledFlags = filled.flatMap(([key, value]) => [`--${key}`, value]);
  const request = parseCampaign([...argv, ...filledFlags], env);
  if (!request) return undefined;

  const notices = [...filledInNotice(filled), ...request.notices];
  return { ...request, start: { ...request.start, planFirst: true }, notices };
}

const DEFAULT_CLIENT = "valkey-glide";

const storeIds = stores.flatMap(({ id, engine }) => (engine ? [id] : []));

const targetSchemas = {
  RATE_LIMITER_TYPE: z.string().max(200).optional(),
  USE_VALKEY_CLUSTER: switchText.optional(),
  USE_REDIS_CLUSTER: switchText.optional(),
  STORE: idSchema.optional(),
};
const targetHelp: Record<keyof typeof targetSchemas, string> = {
  RATE_LIMITER_TYPE: `client[~version][@store][:topology][+option…] (default: ${DEFAULT_CLIENT})`,
  USE_VALKEY_CLUSTER: "true: the client's cluster topology, on Valkey",
  USE_REDIS_CLUSTER: "true: the client's cluster topology, on Redis",
  STORE: `${storeIds.join(", ")} (default: the client's own)`,
};

const outputFileSchema = z
  .string()
  .max(4096)
  .regex(/^\P{Cc}*$/u, "must hold no line breaks or other control characters")
  .optional();

const singleRunSettings = SETTINGS.flatMap((setting) =>
  setting.singleRun ? [{ ...setting, singleRun: setting.singleRun }] : [],
);
const settingSchemas: Readonly<Record<string, z.ZodType<string | undefined>>> = Object.fromEntries(
  singleRunSettings.map(({ singleRun }) => [singleRun.name, singleRun.schema.optional()]),
);

const withDefault = (help: string, shownDefault: string | undefined): string =>
  shownDefault === undefined ? help : `${help} (default: ${shownDefault})`;

function singleRunHelp(
  { help, defaultValue, defaultText }: Setting,
  variable: SingleRunVariable,
): string {
  const ownDefault = variable.defaultText ?? variable.defaultValue;
  return withDefault(variable.help ?? help, ownDefault ?? defaultText ?? defaultValue);
}

export const SINGLE_VARIABLES: Readonly<Record<string, string>> = {
  ...targetHelp,
  ...Object.fromEntries(
    singleRunSettings.map((setting) => [
      setting.singleRun.name,
      singleRunHelp(setting, setting.singleRun),
    ]),
  ),
  OUTPUT_FILE: "the result is copied to this file too",
  SKIP_LONG_TESTS: "true: 30 s, and one run of each configuration",
  DEBUG_MODE: "true: as --verbose",
  ...Object.fromEntries(
    SETTINGS.flatMap(({ variable, variableHelp, help, defaultText }) =>
      variable ? [[variable, withDefault(variableHelp ?? help, defaultText)]] : [],
    ),
  ),
};

/** The target that the variables name together. @throws usageError where they contradict each other */
function targetText(env: Environment): string {
  const variables = readEnv(targetSchemas, env);
  const named = parseTargetText(variables.RATE_LIMITER_TYPE ?? DEFAULT_CLIENT);

  const clusterStores: string[] = [];
  if (isOn(variables.USE_VALKEY_CLUSTER)) clusterStores.push("valkey");
  if (isOn(variables.USE_REDIS_CLUSTER)) clusterStores.push("redis");

  const candidates = [named.store, variables.STORE, ...clusterStores];
  const stores = new Set(candidates.filter((store) => store !== undefined));
  const [store, ...others] = stores;
  if (others.length > 0)
    throw usageError(
      `the environment asks for ${[...stores].join(" and ")} at once: give one store`,
    );

  const topology = named.topology ?? (clusterStores.length > 0 ? "cluster" : undefined);
  if (clusterStores.length > 0 && !isCluster(topology ?? ""))
    throw usageError(
      `RATE_LIMITER_TYPE=${variables.RATE_LIMITER_TYPE} is not a cluster, but USE_…_CLUSTER is on`,
    );
  return formatTargetText(definedOnly({ ...named, store, topology }));
}

type RenamedFlag = { names: readonly string[]; value: string; help: string; key: string };

/** Flags of the original for settings that have another name here. */
const RENAMED: readonly RenamedFlag[] = [
  {
    names: ["time", "duration"],
    value: "<s>",
    help: "measured seconds of a run",
    key: "duration-mode",
  },
  { names: ["requests", "request-types"], value: "<list>", help: "light, heavy", key: "workload" },
  { names: ["limiters", "rate-limiters"], value: "<list>", help: "targets", key: "clients" },
];

const EVERYTHING = {
  "duration-mode": `${CUSTOM_DURATION}30`,
  concurrency: ORIGINAL.concurrency,
  workload: "light heavy",
  clients: "all",
};
/** The plans of the original. The values that a plan leaves out are those of `EVERYTHING`. */
const PLANS: readonly { names: readonly [string, string]; values: Partial<typeof EVERYTHING> }[] = [
  { names: ["defaults", "default"], values: {} },
  {
    names: ["clusters", "cluster-only"],
    values: { "duration-mode": `${CUSTOM_DURATION}150`, clients: "cluster" },
  },
  {
    names: ["standalone", "standalone-only"],
    values: {
      "duration-mode": `${CUSTOM_DURATION}120`,
      concurrency: "50 100 500",
      clients: "standalone",
    },
  },
  {
    names: ["quick", "quick-mode"],
    values: { concurrency: "50 100", workload: "light", clients: "valkey-glide iovalkey" },
  },
];

function planHelp({ values }: (typeof PLANS)[number]): string {
  const {
    clients,
    workload,
    concurrency,
    "duration-mode": duration,
  } = { ...EVERYTHING, ...values };
  return `${clients}; ${workload}; ${concurrency} connections; ${duration.slice(CUSTOM_DURATION.length)} s`;
}

/** Flags of the original, with all their names, the placeholder of their value, and their help. */
const ORIGINAL_FLAGS: readonly (readonly [
  names: readonly string[],
  value: string,
  help: string,
])[] = [
  ...RENAMED.map(({ names, value, help }) => [names, ` ${value}`, help] as const),
  ...PLANS.map((plan) => [plan.names, "", planHelp(plan)] as const),
];

/** Flags of campaigns that a single run does not take. Its `--quick` is a plan of the original. */
const NOT_TAKEN = ["quick", "preset", "config", "resume", "legacy"];

/** The command of single runs, with its variables, the original's flags and those of a campaign. */
export function singleCommand(): Command {
  const command = createCommand("ratelimit-bench single").description(
    "Measures one configuration, set by environment variables, or those of flags.",
  );
  for (const [names, value, help] of ORIGINAL_FLAGS)
    for (const name of names) command.addOption(new Option(`--${name}${value}`, help));
  command.option("-i, --interactive", "asks what to measure");
  for (const setting of SETTINGS)
    if (!NOT_TAKEN.includes(setting.key)) command.addOption(optionOf(setting));
  return command.configureHelp({
    formatHelp: ({ name, description }) =>
      [
        `Usage: ${name.call(command)} [flags]`,
        "",
        description.call(command),
        "",
        "Variables:",
        ...helpTable(Object.entries(SINGLE_VARIABLES)),
        "",
        "Flags, beside those of a campaign; what they leave out is that of --defaults:",
        ...helpTable([
          ...ORIGINAL_FLAGS.map(
            ([names, value, help]) =>
              [`${names.map((name) => `--${name}`).join(", ")}${value}`, help] as const,
          ),
          ["-i, --interactive", "asks what to measure"],
        ]),
        "",
      ].join("\n"),
  });
}

/**
 * The settings that variables of single runs give.
 * @param withDefaults whether the defaults of variables count, as for a run that no plan describes
 */
function singleRunValues(env: Environment, withDefaults: boolean): [string, SettingValue][] {
  const variables = readEnv(settingSchemas, env);
  return singleRunSettings.flatMap(({ key, singleRun }) => {
    const { name, toValue = (text: string) => text } = singleRun;
    // In an open loop, the number of connections has another default.
    const isOpenLoop = key === "concurrency" && (variables.RATE || variables.FAULT);
    const defaultValue = withDefaults && !isOpenLoop ? singleRun.defaultValue : undefined;
    const text = variables[name] ?? defaultValue;
    return text === undefined ? [] : [[key, { source: name, value: toValue(text) }]];
  });
}

/** The flags, also under the keys that renamed flags of the original have here. */
function settingsOf(flags: SettingLayer): Map<string, SettingValue> {
  const settings = new Map(flags);
  for (const { names, key } of RENAMED) {
    const renamed = names.flatMap((name) => flags.get(name) ?? []);
    for (const { source, value } of renamed) {
      const isDuration = key === "duration-mode";
      settings.set(key, { source, value: isDuration ? `${CUSTOM_DURATION}${value}` : value });
    }
  }
  return settings;
}

/** The plan that a flag names. @throws usageError where several are named */
function planOf(flags: SettingLayer): (typeof PLANS)[number] | undefined {
  const plans = PLANS.filter(({ names }) => names.some((name) => flags.has(name)));
  if (plans.length > 1) {
    const flagNames = plans.map(({ names: [name] }) => `--${name}`);
    throw usageError(`${flagNames.join(" and ")}: give one of them`);
  }
  return plans[0];
}

const switches = {
  SKIP_LONG_TESTS: switchText.optional(),
  DEBUG_MODE: switchText.optional(),
  SKIP_CONTAINER_SETUP: switchText.optional(),
};

/**
 * The settings of the original's switches, which win over all others.
 * @throws usageError for containers that already run
 */
function switchLayer(env: Environment): SettingLayer {
  const { SKIP_LONG_TESTS, DEBUG_MODE, SKIP_CONTAINER_SETUP } = readEnv(switches, env);
  if (isOn(SKIP_CONTAINER_SETUP))
    throw usageError("SKIP_CONTAINER_SETUP: name the store that already runs by STORE_URL");

  const layer = new Map<string, SettingValue>();
  if (isOn(SKIP_LONG_TESTS)) {
    const source = "SKIP_LONG_TESTS";
    layer.set("duration-mode", { source, value: `${CUSTOM_DURATION}30` });
    layer.set("runs", { source, value: "1" });
  }
  if (isOn(DEBUG_MODE)) layer.set("verbose", { source: "DEBUG_MODE", value: "true" });
  return layer;
}

/**
 * Reads variables and flags of `run-benchmark.sh`. Variables describe one configuration, which is
 * measured once unless RUNS is set. Flags of the original describe several, each measured three
 * times, and win over variables.
 * @param command the parsed command line, if there is one
 * @throws usageError that names the variable or the flag
 */
export function parseSingle(
  env: Environment,
  argv: readonly string[] = [],
  command?: Command,
): Request {
  const originalFlags = command ? layerOf(command) : new Map<string, SettingValue>();
  const plan = planOf(originalFlags);
  const flags = settingsOf(originalFlags);
  const isPlanned = plan !== undefined || Object.keys(EVERYTHING).some((key) => flags.has(key));
  const { OUTPUT_FILE: outputFile } = readEnv({ OUTPUT_FILE: outputFileSchema }, env);

  const settings = variableSettings(env, isPlanned);
  const filled = isPlanned ? filledSettings(plan, settings, flags) : [];
  const source = `--${plan?.names[0] ?? "defaults"}`;
  for (const [key, value] of filled) settings.set(key, { source, value });
  dropOverridden(settings, flags, env);

  const variables = environmentLayer(env);
  requireSingleLimits(variables);
  const notices = plan ? [] : filledInNotice(filled);
  const request = requestFromLayers(
    [variables, settings, flags, switchLayer(env)],
    () => repeatedCommand(argv, env),
    notices,
  );
  const planFirst = isPlanned ? (true as const) : undefined;
  return {
    ...request,
    output: definedOnly({ ...request.output, file: outputFile || undefined }),
    start: definedOnly({ ...request.start, planFirst }),
  };
}

/** The settings of variables of single runs. A plan has its own target and seed. */
function variableSettings(env: Environment, isPlanned: boolean): Map<string, SettingValue> {
  const settings = new Map<string, SettingValue>();
  const namesTarget = Object.keys(targetSchemas).some((name) => env[name]);
  if (!isPlanned || namesTarget)
    settings.set("clients", { source: "RATE_LIMITER_TYPE", value: targetText(env) });
  if (isPlanned) settings.set("seed", { source: "SEED", value: "1" });
  for (const [key, value] of singleRunValues(env, !isPlanned)) settings.set(key, value);
  return settings;
}

/** The settings of a plan that neither variables nor flags set. */
function filledSettings(
  plan: (typeof PLANS)[number] | undefined,
  settings: SettingLayer,
  flags: SettingLayer,
): FilledSetting[] {
  const values = { ...EVERYTHING, ...plan?.values };
  return Object.entries(values).filter(([key]) => !settings.has(key) && !flags.has(key));
}

/** Drops the defaults of variables for which there is a flag, so that no notice mentions them. */
function dropOverridden(
  settings: Map<string, SettingValue>,
  flags: SettingLayer,
  env: Environment,
): void {
  for (const key of flags.keys()) {
    const setting = singleRunSettings.find((candidate) => candidate.key === key);
    const variable = setting?.singleRun.name;
    if (variable && !env[variable]) settings.delete(key);
  }
}

/** @throws usageError for a list of limits, which only campaigns can have */
function requireSingleLimits(variables: SettingLayer): void {
  for (const key of LIMIT_FLAGS) {
    const { source = "", value = "" } = variables.get(key) ?? {};
    if (/[,\s]/.test(value.trim()))
      throw usageError(
        `${source}=${value.slice(0, 60)}: a single run has one value, a campaign a list`,
      );
  }
}

/** The command line that repeats this run, with its variables. */
function repeatedCommand(argv: readonly string[], env: Environment): string {
  const names = [
    ...Object.keys(targetSchemas),
    ...Object.keys(settingSchemas),
    "OUTPUT_FILE",
    ...Object.keys(switches),
    ...SHARED_VARIABLES,
  ];
  return [
    ...assignments(names, env),
    "./scripts/run-benchmark.sh",
    ...withoutSecrets(argv).map(shellWord),
  ].join(" ");
}
