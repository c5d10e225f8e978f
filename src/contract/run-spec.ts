import { z } from "zod";
import type { Environment } from "../kit/env.js";
import { messageOf, usageError } from "../kit/errors.js";
import { MAX_DOCUMENT_BYTES, readUserFile } from "../kit/user-files.js";
import { appRequestSchema } from "./app.js";
import {
  extentSchema,
  limitsSchema,
  loadSchema,
  warmupSchema,
  workloadSchema,
} from "./configuration.js";
import { driverLayerSchema } from "./layers.js";
import { RANGES, wholeIn } from "./ranges.js";
import { idSchema } from "./target.js";
import { turnsSchema } from "./turns.js";

const RUN_SPEC = "ratelimit-bench/run";
const GROUP_SPEC = "ratelimit-bench/group";

const port = z.int().min(1).max(65_535);
export const nodeSchema = z.strictObject({
  host: z.string().min(1).max(253),
  port,
  ports: z.record(z.string(), port).optional(),
});

/** Up to 64 letters, digits, - or _. It is empty for a program that was started by hand. */
export const runNonceSchema = z.string().regex(/^[0-9A-Za-z_-]{0,64}$/);

/**
 * The store of a run. Credentials of a user's store are not part of it: they are in STORE_URL and
 * STORE_CA.
 */
const storeSpecSchema = z.strictObject({
  id: idSchema,
  /**
   * The id of the engine of a store that the user named by its program alone. It is absent for a
   * known store.
   */
  engine: idSchema.optional(),
  topology: idSchema,
  /**
   * The nodes in the order of roles, primaries first. The list is empty for a store in the server's
   * process, and while the nodes are not known.
   */
  nodes: z.array(nodeSchema),
  /**
   * The certificate (PEM) of the authority of a store that the campaign started with encryption.
   */
  ca: z.string().max(4096).optional(),
});
export type StoreSpec = z.infer<typeof storeSpecSchema>;

export const serviceSpecSchema = z.strictObject({
  id: idSchema,
  /**
   * In the names of its configuration, so that the service of another run is not taken for this
   * one.
   */
  nonce: runNonceSchema,
  ...nodeSchema.shape,
});
export type ServiceSpec = z.infer<typeof serviceSpecSchema>;

const serverSpecSchema = z.strictObject({
  host: z.string().max(253),
  /** The port, where 0 means any free one. */
  port: z.int().min(0).max(65_535),
  /** Rounds of CPU work of the heavy workload. */
  complexity: wholeIn("complexity"),
  /** `silent` means no logger at all. */
  log_level: z.string().max(10),
  /** Whether the server has instruments that cost CPU time, and answers to `/diagnosis`. */
  diagnose: z.literal(true).optional(),
  /** How far the wall clock of this process is ahead of the machine's, in ms. */
  clock_shift_ms: z.int().optional(),
  /**
   * Whether a request's client is the one that a proxy in front of the server names, so that the
   * hook of a limiter tells clients apart by its own default.
   */
  by_address: z.literal(true).optional(),
});

export type ServerSpec = z.infer<typeof serverSpecSchema>;

const addressedServerSchema = z.strictObject({
  id: z.string().max(40),
  /** Base address, without a slash at the end. */
  url: z.url(),
  /** The server must report the same nonce, unless it is empty. */
  run_nonce: runNonceSchema,
  /** Whether it is not ours, so that nothing is asked of it but what the load asks. */
  foreign: z.literal(true).optional(),
});
export type AddressedServer = z.infer<typeof addressedServerSchema>;

/** The place of one of several generators of one load, from 0, and how many they are. */
const generatorShareSchema = z.strictObject({
  index: z
    .int()
    .min(0)
    .max(RANGES.generators.max - 1),
  of: wholeIn("generators").min(2),
});
export type GeneratorShare = z.infer<typeof generatorShareSchema>;

const generatorSpecSchema = z.strictObject({
  layer: driverLayerSchema,
  workload: workloadSchema,
  traffic: idSchema,
  /** The load of all generators together. The extent is theirs together, too. */
  load: loadSchema,
  extent: extentSchema,
  share: generatorShareSchema.optional(),
  workers: wholeIn("workers"),
  warmup_s: warmupSchema,
  seed: wholeIn("seed"),
  timeout_s: z.number().min(1).max(600),
  /** The request that foreign servers get, in the place of that of the workload. */
  request: appRequestSchema.optional(),
  /** The servers, over which connections are spread evenly. They are empty at the limiter layer. */
  servers: z.array(addressedServerSchema),
  progress: z.enum(["text", "json"]),
  /**
   * Whether it waits at each drained moment until its standard input says that the counters are
   * read.
   */
  waits_for_readings: z.boolean(),
  /** Whether it reads the servers' instruments. */
  diagnose: z.literal(true).optional(),
  timeline: z.literal(true).optional(),
  /** File to which the result is written instead of standard output. */
  output_file: z.string().max(4096).optional(),
});
export type GeneratorSpec = z.infer<typeof generatorSpecSchema>;

/**
 * What one run asks of its programs. Server, load generator and probe read the same document and
 * take from it what concerns them. The variables of a program that is started by hand decode into
 * the same type.
 */
export const runSpecSchema = z.strictObject({
  schema: z.literal(RUN_SPEC),
  run_nonce: runNonceSchema,
  target: z.strictObject({ text: z.string().max(200), label: z.string().max(200) }),
  /**
   * The limits are absent for a generator that was started by hand, because the server names them.
   */
  limits: limitsSchema.optional(),
  store: storeSpecSchema,
  /** The service is absent for a target that a library, a module or the store itself limits. */
  service: serviceSpecSchema.optional(),
  /** Prefix of every key, so that runs on an external store do not share keys. */
  key_prefix: z.string().regex(/^[0-9A-Za-z:_-]{1,64}$/),
  plugins: z.array(z.string().min(1).max(4096)),
  /**
   * The folder of the library versions that a target may request. It defaults to that of this user.
   */
  versions_folder: z.string().max(4096).optional(),
  server: serverSpecSchema.optional(),
  generator: generatorSpecSchema.optional(),
});
export type RunSpec = z.infer<typeof runSpecSchema>;

export const runSpec = (members: Omit<RunSpec, "schema">): RunSpec => ({
  schema: RUN_SPEC,
  ...members,
});

export const encodeRunSpec = (spec: RunSpec | GroupSpec): Record<string, string> => ({
  RUN_SPEC: JSON.stringify(spec),
});

/** A load curve has a run for each target and load, which are five targets at up to ten loads. */
const MAX_RUNS_OF_GROUP = 64;

/** What several runs ask of a load generator that gives them the load by turns. */
export const groupSpecSchema = z.strictObject({
  schema: z.literal(GROUP_SPEC),
  runs: z.array(runSpecSchema).min(1).max(MAX_RUNS_OF_GROUP),
  turns: turnsSchema,
});
export type GroupSpec = z.infer<typeof groupSpecSchema>;

export const groupSpec = (members: Omit<GroupSpec, "schema">): GroupSpec => ({
  schema: GROUP_SPEC,
  ...members,
});

/**
 * Returns JSON, or the path of a file that holds it. It is undefined where RUN_SPEC is not set.
 * @throws usageError
 */
export function decodeRunSpec(env: Environment): RunSpec | undefined {
  const document = documentOf(env);
  return document === undefined ? undefined : parsed(document, runSpecSchema);
}

/**
 * The group in the variable RUN_SPEC. It is undefined where it holds something else.
 * @throws like `decodeRunSpec`
 */
export function decodeGroupSpec(env: Environment): GroupSpec | undefined {
  const document = documentOf(env);
  const isGroup = z.looseObject({ schema: z.literal(GROUP_SPEC) }).safeParse(document).success;
  return isGroup ? parsed(document, groupSpecSchema) : undefined;
}

/** The document in RUN_SPEC, or in the file that it names. */
function documentOf({ RUN_SPEC: textOrPath }: Environment): unknown {
  if (!textOrPath) return undefined;
  try {
    const isDocument = textOrPath.trimStart().startsWith("{");
    const text = isDocument
      ? textOrPath
      : readUserFile(textOrPath, MAX_DOCUMENT_BYTES).toString("utf8");
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`RUN_SPEC cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

function parsed<Document>(document: unknown, schema: z.ZodType<Document>): Document {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw usageError(
    `RUN_SPEC: ${issue?.path.join(".") || "the document"}: ${issue?.message ?? "is not valid"}`,
  );
}
