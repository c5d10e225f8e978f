import { z } from "zod";
import { definedOnly } from "../kit/defined-only.js";
import { decimalNumber, decimalOrAuto, type Environment, readEnv } from "../kit/env.js";
import { usageError } from "../kit/errors.js";
import { DEFAULT_POOL, type Load, namedArrivals } from "./configuration.js";
import { isClientLayer } from "./layers.js";
import { decodePlugins } from "./plugins.js";
import { decimalText, RANGES, wholeText } from "./ranges.js";
import { roleId } from "./role.js";
import {
  type AddressedServer,
  decodeGroupSpec,
  decodeRunSpec,
  type GeneratorSpec,
  type RunSpec,
  runNonceSchema,
  runSpec,
} from "./run-spec.js";
import { idSchema } from "./target.js";
import type { TurnsSpec } from "./turns.js";

const address = z
  .url({
    protocol: /^https?$/,
    message: "must be an http or https address, e.g. http://127.0.0.1:3001",
  })
  // The generator appends the workload's path and the keys.
  .regex(/^[^?#]*$/, "must be a base address, without ? and #");

const shape = {
  TARGET_URL: z.string().max(4096).optional(),
  DURATION: decimalNumber(0.1, RANGES.duration.max).optional(),
  REQUESTS: wholeText("requests").optional(),
  CONNECTIONS: wholeText("connections").optional(),
  WORKERS: wholeText("workers").optional(),
  RATE: decimalText("rate").optional(),
  ARRIVALS: z.enum(namedArrivals, "must be constant or poisson").optional(),
  REQUEST_TYPE: idSchema.optional(),
  RATE_LIMITER_TYPE: z.string().max(200).optional(),
  TRAFFIC: idSchema.optional(),
  WARMUP: decimalOrAuto(RANGES.warmup.min, RANGES.warmup.max).optional(),
  SEED: wholeText("seed").optional(),
  /** autocannon's shortest time-out is one second. */
  TIMEOUT: decimalNumber(1, 600).optional(),
  OUTPUT_FILE: z.string().max(4096).optional(),
  RUN_NONCE: runNonceSchema.optional(),
  PROGRESS: z.enum(["text", "json"], "must be text or json").optional(),
};

export type GeneratorRunSpec = RunSpec & { generator: GeneratorSpec };

/** Stands for what a generator that was started by hand does not know of its target. */
const UNKNOWN = "unknown";

/**
 * Reads the servers in TARGET_URL, which are separated by commas.
 * @throws usageError naming the address that is wrong
 */
function addressedServers(text: string, run_nonce: string): AddressedServer[] {
  const urls = text.split(",").map((part) => {
    const parsed = address.safeParse(part.trim());
    if (parsed.success) return parsed.data.replace(/\/+$/, "");
    throw usageError(
      `TARGET_URL=${JSON.stringify(part.slice(0, 60))} ${parsed.error.issues[0]?.message}`,
    );
  });
  const twice = urls.find((url, index) => urls.indexOf(url) !== index);
  if (twice) throw usageError(`TARGET_URL has ${JSON.stringify(twice.slice(0, 60))} twice`);
  return urls.map((url, index) => ({ id: roleId("server", index + 1), url, run_nonce }));
}

/** The runs of a group whose targets get the load by turns, and how. */
export type GeneratorGroup = {
  runs: readonly [GeneratorRunSpec, ...GeneratorRunSpec[]];
  turns: TurnsSpec;
};

/**
 * The group in RUN_SPEC. It is undefined where it holds one run, or is not set.
 * @throws usageError
 */
export function decodeGroup(env: Environment): GeneratorGroup | undefined {
  const spec = decodeGroupSpec(env);
  if (!spec) return undefined;
  const [first, ...others] = spec.runs;
  if (!first) throw usageError("RUN_SPEC: runs: empty");
  const { turns } = spec;
  if (turns.given && others.length > 0 && !turns.curve)
    throw usageError("RUN_SPEC: turns.given: each target has a generator of its own");
  if (turns.curve && !turns.lengths)
    throw usageError("RUN_SPEC: turns.lengths: missing, and every turn of a load curve has them");
  const member = (run: RunSpec) => inGroup(run, turns);
  return { runs: [member(first), ...others.map(member)], turns };
}

/**
 * Reads RUN_SPEC or, without it, the variables of a generator that was started by hand.
 * @throws usageError
 */
export function decodeGeneratorEnv(env: Environment): GeneratorRunSpec {
  const spec = decodeRunSpec(env);
  return spec ? checked(spec) : decodeVariables(env);
}

function inGroup(spec: RunSpec, { given: areGiven, curve }: TurnsSpec): GeneratorRunSpec {
  const run = checked(spec);
  const { share, load, extent, layer, waits_for_readings } = run.generator;
  const refuse = (member: string, text: string) =>
    usageError(`RUN_SPEC: generator.${member}: by turns ${text}`);
  if (share) throw refuse("share", "there is one generator");
  if (load.model === "open" && !curve)
    throw refuse("load", "the load is a closed loop, unless it is a load curve");
  if (!("duration_s" in extent)) throw refuse("extent", "a run has a duration");
  if (isClientLayer(layer) !== (areGiven ?? false))
    throw refuse("layer", "the turns are given where the worker is the client, and nowhere else");
  if (!waits_for_readings)
    throw refuse("waits_for_readings", "the counters are read at drained moments");
  return run;
}

function checked(spec: RunSpec): GeneratorRunSpec {
  const { generator } = spec;
  if (!generator) throw usageError("RUN_SPEC: generator: missing, and this is the load generator");
  if (!isClientLayer(generator.layer) && generator.servers.length === 0)
    throw usageError("RUN_SPEC: generator.servers: empty, although the layer is server");
  const { share, load, waits_for_readings } = generator;
  if (share && !waits_for_readings)
    throw usageError("RUN_SPEC: generator.share: several generators need waits_for_readings");
  const generators = share?.of ?? 1;
  if ((share?.index ?? 0) >= generators)
    throw usageError("RUN_SPEC: generator.share.index: not below of");
  if (generators * generator.workers > load.connections)
    throw usageError(
      `RUN_SPEC: generator.workers: ${generators * generator.workers} in all are more than connections`,
    );

  return { ...spec, generator };
}

function decodeVariables(env: Environment): GeneratorRunSpec {
  const read = readEnv(shape, env);
  if (!read.TARGET_URL)
    throw usageError(
      "TARGET_URL is not set: give the server's base address, e.g. http://127.0.0.1:3001",
    );
  if (read.DURATION && read.REQUESTS)
    throw usageError("DURATION and REQUESTS are both set: give one of them");
  if (read.ARRIVALS && !read.RATE)
    throw usageError(
      `ARRIVALS=${read.ARRIVALS} is of no use without RATE: give requests a second, e.g. 5000`,
    );
  const connections = Number(read.CONNECTIONS ?? (read.RATE ? DEFAULT_POOL : 10));
  const workers = Number(read.WORKERS ?? 1);
  if (workers > connections)
    throw usageError(`WORKERS=${workers} is more than CONNECTIONS=${connections}`);
  const servers = addressedServers(read.TARGET_URL, read.RUN_NONCE ?? "");
  if (servers.length > connections)
    throw usageError(
      `TARGET_URL has ${servers.length} servers, more than CONNECTIONS=${connections}`,
    );
  const requests = read.REQUESTS ? Number(read.REQUESTS) : undefined;
  if (requests !== undefined && requests < connections && !read.RATE) {
    throw usageError(
      `REQUESTS=${requests} is less than CONNECTIONS=${connections}: each connection sends at least one`,
    );
  }

  const openLoad: Load = {
    model: "open",
    rate_per_second: Number(read.RATE),
    arrivals: read.ARRIVALS ?? "constant",
    connections,
  };
  const label = read.RATE_LIMITER_TYPE ?? "valkey-glide";
  const generator: GeneratorSpec = {
    ...definedOnly({ output_file: read.OUTPUT_FILE }),
    layer: "server",
    workload: { id: read.REQUEST_TYPE ?? "light" },
    traffic: read.TRAFFIC ?? "realistic",
    load: read.RATE ? openLoad : { model: "closed", connections },
    extent: requests === undefined ? { duration_s: Number(read.DURATION ?? 30) } : { requests },
    workers,
    warmup_s: read.WARMUP === "auto" ? "auto" : Number(read.WARMUP ?? 0),
    seed: Number(read.SEED ?? 1),
    timeout_s: Number(read.TIMEOUT ?? 10),
    servers,
    progress: read.PROGRESS ?? "text",
    waits_for_readings: false,
  };
  const spec = runSpec({
    run_nonce: read.RUN_NONCE ?? "",
    target: { text: label, label },
    store: { id: UNKNOWN, topology: UNKNOWN, nodes: [] },
    key_prefix: UNKNOWN,
    plugins: decodePlugins(env),
  });

  return { ...spec, generator };
}
