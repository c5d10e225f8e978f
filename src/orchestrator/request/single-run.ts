import { z } from "zod";
import { type Environment, isOn, readEnv, switchText } from "../../contract/env.js";
import { usageError } from "../../contract/errors.js";
import { formatTargetText, idSchema, parseTargetText } from "../../contract/target.js";
import { stores } from "../../targets/stores/index.js";
import { isCluster } from "../../targets/topologies.js";
import { assignments, requestFromLayers, SHARED_VARIABLES } from "./parse-request.js";
import { LISTED_LIMITS, type Request } from "./request.js";
import { environmentLayer, type SettingValue } from "./setting-layers.js";
import { SETTINGS, type Setting, type SingleRunVariable } from "./settings.js";

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

function singleRunHelp({ help, defaultValue, defaultText }: Setting, variable: SingleRunVariable): string {
  const ownDefault = variable.defaultText ?? variable.defaultValue;
  return withDefault(variable.help ?? help, ownDefault ?? defaultText ?? defaultValue);
}

export const SINGLE_VARIABLES: Readonly<Record<string, string>> = {
  ...targetHelp,
  ...Object.fromEntries(
    singleRunSettings.map((setting) => [setting.singleRun.name, singleRunHelp(setting, setting.singleRun)]),
  ),
  OUTPUT_FILE: "the result is copied to this file too",
  ...Object.fromEntries(
    SETTINGS.flatMap(({ variable, variableHelp, help, defaultText }) =>
      variable ? [[variable, withDefault(variableHelp ?? help, defaultText)]] : [],
    ),
  ),
};

/** The target that the variables name together. @throws usageError if they contradict each other */
function targetText(env: Environment): string {
  const given = readEnv(targetSchemas, env);
  const named = parseTargetText(given.RATE_LIMITER_TYPE ?? DEFAULT_CLIENT);
  const clusterStores = [
    ...(isOn(given.USE_VALKEY_CLUSTER) ? ["valkey"] : []),
    ...(isOn(given.USE_REDIS_CLUSTER) ? ["redis"] : []),
  ];
  const candidates = [named.store, given.STORE, ...clusterStores].filter((store) => store !== undefined);
  const stores = [...new Set(candidates)];
  if (stores.length > 1)
    throw usageError(`the environment asks for ${stores.join(" and ")} at once: give one store`);
  const topology = named.topology ?? (clusterStores.length > 0 ? "cluster" : undefined);
  if (clusterStores.length > 0 && !isCluster(topology ?? ""))
    throw usageError(
      `RATE_LIMITER_TYPE=${given.RATE_LIMITER_TYPE} is not a cluster, but USE_…_CLUSTER is on`,
    );
  return formatTargetText({
    ...named,
    ...(stores[0] ? { store: stores[0] } : {}),
    ...(topology ? { topology } : {}),
  });
}

function settingLayer(env: Environment): [string, SettingValue][] {
  const given = readEnv(settingSchemas, env);
  return singleRunSettings.flatMap(({ key, singleRun }) => {
    const { name, toValue = (text: string) => text } = singleRun;
    // In an open loop, the number of connections has another default.
    const defaultValue =
      key === "concurrency" && (given.RATE || given.FAULT) ? undefined : singleRun.defaultValue;
    const text = given[name] ?? defaultValue;
    return text === undefined ? [] : [[key, { source: name, value: toValue(text) }]];
  });
}

/** The environment of `run-benchmark.sh`: one configuration, once unless RUNS is set. @throws usageError */
export function parseSingle(env: Environment): Request {
  const given = settingLayer(env);
  const { OUTPUT_FILE: outputFile } = readEnv({ OUTPUT_FILE: outputFileSchema }, env);
  const settings = new Map([
    ["clients", { source: "RATE_LIMITER_TYPE", value: targetText(env) }],
    ["no-reference", { source: "a single run", value: "true" }],
    ...given,
  ]);
  const names = [...Object.keys(targetSchemas), ...Object.keys(settingSchemas), "OUTPUT_FILE"];
  const command = () =>
    [...assignments([...names, ...SHARED_VARIABLES], env), "./scripts/run-benchmark.sh"].join(" ");
  const variables = environmentLayer(env);
  for (const key of LISTED_LIMITS) {
    const { source = "", value = "" } = variables.get(key) ?? {};
    if (value.trim().match(/[,\s]/))
      throw usageError(`${source}=${value.slice(0, 60)}: a single run has one value, a campaign a list`);
  }
  const request = requestFromLayers([variables, settings], command, []);
  return { ...request, ...(outputFile ? { outputFile } : {}) };
}
