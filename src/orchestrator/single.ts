import { z } from "zod";
import { decimalNumber, type Environment, isOn, readEnv, switchText, wholeNumber } from "../contract/env.js";
import { usageError } from "../contract/errors.js";
import { DEFAULT_COMPLEXITY } from "../contract/server-env.js";
import { idSchema, parseTargetText } from "../contract/target.js";
import { DEFAULT_TRAFFIC } from "../traffic/profiles/index.js";
import { assignments, explicitLimits, INHERITED, pluginPaths, programPaths, storeAccess } from "./args.js";
import { capsFrom } from "./caps.js";
import { RANGES, type Request } from "./request.js";

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
  COMPUTATION_COMPLEXITY: whole("complexity"),
  RUNS: whole("runs"),
  WARMUP: decimal("warmup"),
  COOLDOWN: decimal("cooldown"),
  TRAFFIC: idSchema.optional(),
  RUNTIME: z.string().max(40).optional(),
  SEED: whole("seed"),
  WORKERS: whole("workers"),
  OUTPUT_DIR: z.string().max(4096).optional(),
  OUTPUT_FILE: z.string().max(4096).optional(),
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
  return [
    asked.client,
    asked.version ? `~${asked.version}` : "",
    stores[0] ? `@${stores[0]}` : "",
    topology ? `:${topology}` : "",
    ...asked.options.map((option) => `+${option}`),
  ].join("");
}

/**
 * Reads the environment of `run-benchmark.sh`: one configuration, run once unless RUNS says otherwise.
 * @throws usageError naming the variable
 */
export function parseSingle(env: Environment): Request {
  const read = readEnv(shape, env);
  const notices: string[] = [];
  const access = storeAccess({}, env);
  return {
    clients: [targetText(read)],
    workloads: [read.REQUEST_TYPE ?? "light"],
    duration: { mode: "fixed", seconds: Number(read.DURATION ?? 30) },
    connections: [Number(read.CONNECTIONS ?? 10)],
    complexity: Number(read.COMPUTATION_COMPLEXITY ?? DEFAULT_COMPLEXITY),
    limits: explicitLimits({}, env, notices),
    runs: Number(read.RUNS ?? 1),
    warmupS: Number(read.WARMUP ?? 10),
    cooldownS: Number(read.COOLDOWN ?? 5),
    clientCooldownS: 0,
    traffic: [read.TRAFFIC ?? DEFAULT_TRAFFIC],
    runtime: read.RUNTIME ?? "auto",
    caps: capsFrom({}, env, notices),
    order: "interleaved",
    seed: Number(read.SEED ?? 1),
    output: read.OUTPUT_DIR ?? "results",
    workers: Number(read.WORKERS ?? 1),
    allowParallel: false,
    programPaths: programPaths({}, env, notices),
    plugins: pluginPaths({}, env, notices),
    storeAccess: access,
    ...(read.OUTPUT_FILE ? { outputFile: read.OUTPUT_FILE } : {}),
    command: [
      ...(access.STORE_URL ? ["STORE_URL=…"] : []),
      ...assignments([...Object.keys(shape), ...INHERITED], env),
      "./scripts/run-benchmark.sh",
    ].join(" "),
    notices,
  };
}
