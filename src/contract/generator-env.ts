import { z } from "zod";
import { type Arrivals, arrivalsSchema, DEFAULT_POOL, RATE_RANGE } from "./configuration.js";
import { decimalNumber, type Environment, readEnv, wholeNumber } from "./env.js";
import { usageError } from "./errors.js";
import { idSchema } from "./target.js";

const shape = {
  TARGET_URL: z
    .url({ protocol: /^https?$/, message: "must be an http or https address, e.g. http://127.0.0.1:3001" })
    // The generator appends the workload's path and the keys.
    .regex(/^[^?#]*$/, "must be a base address, without ? and #")
    .optional(),
  DURATION: decimalNumber(0.1, 86_400).optional(),
  REQUESTS: wholeNumber(1, 1_000_000_000).optional(),
  CONNECTIONS: wholeNumber(1, 10_000).optional(),
  WORKERS: wholeNumber(1, 64).optional(),
  RATE: decimalNumber(RATE_RANGE.min, RATE_RANGE.max).optional(),
  ARRIVALS: z.enum(arrivalsSchema.options, "must be constant or poisson").optional(),
  REQUEST_TYPE: idSchema.optional(),
  RATE_LIMITER_TYPE: z.string().max(200).optional(),
  TRAFFIC: idSchema.optional(),
  WARMUP: decimalNumber(0, 3_600).optional(),
  SEED: wholeNumber(0, 4_294_967_295).optional(),
  /** autocannon's shortest time-out is one second. */
  TIMEOUT: decimalNumber(1, 600).optional(),
  OUTPUT_FILE: z.string().max(4096).optional(),
  RUN_NONCE: z.string().max(64).optional(),
  PROGRESS: z.enum(["text", "json"], "must be text or json").optional(),
};

/** The settings of the load generator. `url` is a base address, to which the workload's path is appended. */
export interface GeneratorEnv {
  url: string;
  label: string;
  workload: string;
  traffic: string;
  /** In an open loop the maximum. */
  connections: number;
  /** The schedule of an open loop; without it the loop is closed. */
  open?: { ratePerSecond: number; arrivals: Arrivals };
  workers: number;
  warmupS: number;
  seed: number;
  /** Exactly one of the two is set. */
  durationS?: number;
  requests?: number;
  timeoutS: number;
  outputFile?: string;
  /** If set, the server must report the same. */
  runNonce?: string;
  progress: "text" | "json";
}

/** @throws usageError naming the variable that is wrong or missing */
export function decodeGeneratorEnv(env: Environment): GeneratorEnv {
  const read = readEnv(shape, env);
  if (!read.TARGET_URL)
    throw usageError("TARGET_URL is not set: give the server's base address, e.g. http://127.0.0.1:3001");
  if (read.DURATION && read.REQUESTS)
    throw usageError("DURATION and REQUESTS are both set: give one of them");
  if (read.ARRIVALS && !read.RATE)
    throw usageError(
      `ARRIVALS=${read.ARRIVALS} is of no use without RATE: give requests a second, e.g. 5000`,
    );
  const connections = Number(read.CONNECTIONS ?? (read.RATE ? DEFAULT_POOL : 10));
  const workers = Number(read.WORKERS ?? 1);
  if (workers > connections) throw usageError(`WORKERS=${workers} is more than CONNECTIONS=${connections}`);
  const requests = read.REQUESTS ? Number(read.REQUESTS) : undefined;
  if (requests !== undefined && requests < connections && !read.RATE) {
    throw usageError(
      `REQUESTS=${requests} is less than CONNECTIONS=${connections}: each connection sends at least one`,
    );
  }
  return {
    url: read.TARGET_URL.replace(/\/+$/, ""),
    label: read.RATE_LIMITER_TYPE ?? "valkey-glide",
    workload: read.REQUEST_TYPE ?? "light",
    traffic: read.TRAFFIC ?? "realistic",
    connections,
    ...(read.RATE
      ? { open: { ratePerSecond: Number(read.RATE), arrivals: read.ARRIVALS ?? "constant" } }
      : {}),
    workers,
    warmupS: Number(read.WARMUP ?? 0),
    seed: Number(read.SEED ?? 1),
    ...(requests === undefined ? { durationS: Number(read.DURATION ?? 30) } : { requests }),
    timeoutS: Number(read.TIMEOUT ?? 10),
    ...(read.OUTPUT_FILE ? { outputFile: read.OUTPUT_FILE } : {}),
    ...(read.RUN_NONCE ? { runNonce: read.RUN_NONCE } : {}),
    progress: read.PROGRESS ?? "text",
  };
}

/** Encodes the settings as environment variables. */
export function encodeGeneratorEnv(work: GeneratorEnv): Record<string, string> {
  return {
    TARGET_URL: work.url,
    RATE_LIMITER_TYPE: work.label,
    REQUEST_TYPE: work.workload,
    TRAFFIC: work.traffic,
    CONNECTIONS: String(work.connections),
    ...(work.open ? { RATE: String(work.open.ratePerSecond), ARRIVALS: work.open.arrivals } : {}),
    WORKERS: String(work.workers),
    WARMUP: String(work.warmupS),
    SEED: String(work.seed),
    TIMEOUT: String(work.timeoutS),
    ...(work.durationS === undefined ? {} : { DURATION: String(work.durationS) }),
    ...(work.requests === undefined ? {} : { REQUESTS: String(work.requests) }),
    ...(work.outputFile === undefined ? {} : { OUTPUT_FILE: work.outputFile }),
    ...(work.runNonce === undefined ? {} : { RUN_NONCE: work.runNonce }),
    PROGRESS: work.progress,
  };
}
