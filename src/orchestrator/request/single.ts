import { delimiter } from "node:path";
import { z } from "zod";
import { arrivalsSchema } from "../../contract/configuration.js";
import {
  decimalNumber,
  type Environment,
  isOn,
  readEnv,
  switchText,
  wholeNumber,
} from "../../contract/env.js";
import { usageError } from "../../contract/errors.js";
import { formatTargetText, idSchema, parseTargetText } from "../../contract/target.js";
import { profiles } from "../../traffic/profiles.js";
import { workloads } from "../../traffic/workloads.js";
import { assignments, INHERITED, requestOf } from "./parse-request.js";
import { RANGES, type Request } from "./request.js";
import { environmentLayer, type SettingValue } from "./setting-layers.js";
import { SETTINGS, settingOf } from "./settings.js";

const whole = (name: keyof typeof RANGES) => wholeNumber(RANGES[name].min, RANGES[name].max).optional();
const decimal = (name: keyof typeof RANGES) => decimalNumber(RANGES[name].min, RANGES[name].max).optional();

const shape = {
  RATE_LIMITER_TYPE: z.string().max(200).optional(),
  USE_VALKEY_CLUSTER: switchText.optional(),
  USE_REDIS_CLUSTER: switchText.optional(),
  STORE: z.enum(["valkey", "redis"], "must be valkey or redis").optional(),
  REQUEST_TYPE: idSchema.optional(),
  DURATION: whole("duration"),
  CONNECTIONS: whole("connections"),
  RATE: decimal("rate"),
  ARRIVALS: z.enum(arrivalsSchema.options, "must be constant or poisson").optional(),
  COMPUTATION_COMPLEXITY: whole("complexity"),
  RUNS: whole("runs"),
  WARMUP: decimal("warmup"),
  COOLDOWN: decimal("cooldown"),
  TRAFFIC: idSchema.optional(),
  RUNTIME: z.string().max(40).optional(),
  SEED: whole("seed"),
  WORKERS: whole("workers"),
  OUTPUT_DIR: z.string().max(4096).optional(),
  OUTPUT_FILE: z
    .string()
    .max(4096)
    .regex(/^\P{Cc}*$/u, "must hold no line breaks or other control characters")
    .optional(),
};
/** What a setting means for a single run, with its default. */
const meaning = (key: string, help = settingOf(key).help): string =>
  `${help} (default: ${settingOf(key).fallback})`;

/** What each variable means that only single runs have. */
const OWN: Record<keyof typeof shape, string> = {
  RATE_LIMITER_TYPE: "client[~version][@store][:topology][+option…] (default: valkey-glide)",
  USE_VALKEY_CLUSTER: "true: the client's cluster topology, on Valkey",
  USE_REDIS_CLUSTER: "true: the client's cluster topology, on Redis",
  STORE: "valkey or redis (default: the client's own)",
  REQUEST_TYPE: meaning("workload", workloads.map(({ id }) => id).join(" or ")),
  DURATION: "measured seconds of a run (default: 30)",
  CONNECTIONS: "connections (default: 10; with RATE at most 200)",
  RATE: "open loop: requests/s",
  ARRIVALS: settingOf("arrivals").help,
  COMPUTATION_COMPLEXITY: meaning("complexity"),
  RUNS: "number of runs (default: 1)",
  WARMUP: meaning("warmup"),
  COOLDOWN: "seconds between runs (default: 5)",
  TRAFFIC: meaning("traffic", `keys of the requests: ${profiles.map(({ id }) => id).join(", ")}`),
  RUNTIME: meaning("runtime", settingOf("runtime").help.replaceAll("|", ", ")),
  SEED: "seed of order and traffic (default: 1)",
  WORKERS: meaning("workers"),
  OUTPUT_DIR: meaning("output"),
  OUTPUT_FILE: "the result is copied to this file too",
};

/** Where a variable takes another form than the flag of the same setting. */
const OTHERWISE: Readonly<Record<string, string>> = {
  PLUGINS: `files and folders that add clients, limiters, options or traffic, separated by "${delimiter}"`,
  STORE_MEMORY: "memory cap of a store node, e.g. 512m; else 2g",
  STORE_URL: "measure a store that you already run: redis[s]://[user:password@]host[:port]",
};

/** Every variable that sets a single run, with its meaning. */
export const SINGLE_VARIABLES: Readonly<Record<string, string>> = {
  ...OWN,
  ...Object.fromEntries(SETTINGS.flatMap(({ variable, help }) => (variable ? [[variable, help]] : []))),
  ...OTHERWISE,
};

/** The target that the variables name together; they may not contradict each other. */
function targetText(
  read: { RATE_LIMITER_TYPE?: string | undefined } & Record<string, string | undefined>,
): string {
  const asked = parseTargetText(read.RATE_LIMITER_TYPE ?? "valkey-glide");
  const clusters = ["valkey", "redis"].filter((store) => isOn(read[`USE_${store.toUpperCase()}_CLUSTER`]));
  const stores = [...new Set([asked.store, read.STORE, ...clusters].filter((store) => store !== undefined))];
  if (stores.length > 1)
    throw usageError(`the environment asks for ${stores.join(" and ")} at once: give one store`);
  const topology = asked.topology ?? (clusters.length > 0 ? "cluster" : undefined);
  if (clusters.length > 0 && topology !== "cluster") {
    throw usageError(`RATE_LIMITER_TYPE=${read.RATE_LIMITER_TYPE} is not a cluster, but USE_…_CLUSTER is on`);
  }
  return formatTargetText({
    ...asked,
    ...(stores[0] ? { store: stores[0] } : {}),
    ...(topology ? { topology } : {}),
  });
}

/**
 * Reads the environment of `run-benchmark.sh`: one configuration, run once unless RUNS says otherwise.
 * @throws usageError naming the variable
 */
export function parseSingle(env: Environment): Request {
  const read = readEnv(shape, env);
  const own = new Map<string, SettingValue>();
  const say = (key: string, variable: keyof typeof shape, value: string | undefined) => {
    if (value !== undefined) own.set(key, { source: variable, value });
  };
  say("clients", "RATE_LIMITER_TYPE", targetText(read));
  say("workload", "REQUEST_TYPE", read.REQUEST_TYPE);
  say("duration-mode", "DURATION", `custom:${read.DURATION ?? 30}`);
  say("concurrency", "CONNECTIONS", read.CONNECTIONS ?? (read.RATE ? undefined : "10"));
  say("rate", "RATE", read.RATE);
  say("arrivals", "ARRIVALS", read.ARRIVALS);
  say("complexity", "COMPUTATION_COMPLEXITY", read.COMPUTATION_COMPLEXITY);
  say("runs", "RUNS", read.RUNS ?? "1");
  say("warmup", "WARMUP", read.WARMUP);
  say("cooldown", "COOLDOWN", `${read.COOLDOWN ?? 5},0`);
  say("traffic", "TRAFFIC", read.TRAFFIC);
  say("runtime", "RUNTIME", read.RUNTIME);
  say("seed", "SEED", read.SEED ?? "1");
  say("workers", "WORKERS", read.WORKERS);
  say("output", "OUTPUT_DIR", read.OUTPUT_DIR);
  const command = () =>
    [...assignments([...Object.keys(shape), ...INHERITED], env), "./scripts/run-benchmark.sh"].join(" ");
  const request = requestOf([environmentLayer(env), own], command, []);
  return { ...request, ...(read.OUTPUT_FILE ? { outputFile: read.OUTPUT_FILE } : {}) };
}
