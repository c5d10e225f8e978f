import { createHash } from "node:crypto";
import { z } from "zod";
import { cpuListSchema } from "../kit/cpu-list.js";
import { withThousands } from "../kit/numbers.js";
import { appRequestSchema } from "./app.js";
import { countIn, DEFAULT_COUNT, dimensionShape, dimensions } from "./dimensions.js";
import { faultSchema } from "./fault-schemas.js";
import { faultsFileName } from "./fault-text.js";
import {
  connectionsText,
  isClientLayer,
  isProgramLayer,
  type Layer,
  layerSchema,
} from "./layers.js";
import { numberSchema, wholeIn } from "./ranges.js";
import { measuredKindSchema } from "./role.js";
import { idSchema, targetFileName, targetSchema } from "./target.js";

/**
 * The quota of each key, as `points` in a window. A key that exceeds it is blocked for `block_s`
 * seconds, or not at all with 0.
 */
export const limitsSchema = z.strictObject({
  points: wholeIn("points"),
  window_s: wholeIn("window"),
  block_s: wholeIn("block"),
  /** Points that a request uses for each of its keys, by default 1. */
  cost: wholeIn("cost").min(2).optional(),
});
export type Limits = z.infer<typeof limitsSchema>;

export const workloadSchema = z.strictObject({
  id: idSchema,
  /** Rounds of CPU work per request. It is present only for workloads that compute. */
  complexity: wholeIn("complexity").optional(),
  /** Bytes of a value. It is present only for operations of the store layer that carry one. */
  payload_bytes: wholeIn("payload-bytes").optional(),
  /** Keys over which the operations of the store layer are spread evenly, at random. */
  keys: z.int().min(1).optional(),
  /** The request that apps get, without values that may be credentials. */
  endpoint: appRequestSchema.optional(),
});
export type Workload = z.infer<typeof workloadSchema>;

/**
 * The distributions of an open loop's sends that can be asked for by name. The sends are evenly
 * spaced, or like those of independent users (a Poisson process).
 */
export const namedArrivals = ["constant", "poisson"] as const;
/** `trace` stands for a file of requests that were seen somewhere. */
export const arrivalsSchema = z.enum([...namedArrivals, "trace"]);
export type Arrivals = z.infer<typeof arrivalsSchema>;

/** The default limit of an open loop's connections. It suffices for 1000 requests/s at 200 ms. */
export const DEFAULT_POOL = 200;

/**
 * How hard the target is loaded. In a closed loop N connections each wait for their answer, which
 * measures capacity. In an open loop R requests/s are sent whether or not answers come, on up to N
 * connections, which measures latency at that rate.
 */
export const loadSchema = z.discriminatedUnion("model", [
  z.strictObject({ model: z.literal("closed"), connections: wholeIn("connections") }),
  z.strictObject({
    model: z.literal("open"),
    rate_per_second: numberSchema("rate"),
    arrivals: arrivalsSchema,
    connections: wholeIn("connections"),
  }),
]);
export type Load = z.infer<typeof loadSchema>;

/**
 * Describes the load, e.g. `50 connections`, `5,000/s constant, up to 200 connections` or, at the
 * limiter layer, `50 at a time`. Plans and results carry the text, so that console and report say
 * the same.
 */
export function loadText({ layer, load }: { layer: Layer; load: Load }): string {
  const connections = connectionsText(layer, load.connections);
  if (load.model === "closed") return connections;
  return `${withThousands(load.rate_per_second)}/s ${load.arrivals}, up to ${connections}`;
}

/** A load as file names have it, e.g. `50c`, `5000rps-200c` or `5000rps-poisson-200c`. */
function loadFileName(load: Load): string {
  const connections = `${load.connections}c`;
  if (load.model === "closed") return connections;
  const spread = load.arrivals === "constant" ? [] : [load.arrivals];
  return [`${load.rate_per_second}rps`, ...spread, connections].join("-");
}

export const extentSchema = z.union([
  z.strictObject({ duration_s: z.number().positive() }),
  z.strictObject({ requests: z.int().min(1) }),
]);
export type Extent = z.infer<typeof extentSchema>;

/** Seconds, or `auto` (M26), whose figures are in `AUTO_WARMUP`. */
export const warmupSchema = z.union([z.number().min(0), z.literal("auto")]);
export type Warmup = z.infer<typeof warmupSchema>;
/**
 * The last part of a warm-up comes after the reading of the counters and runs into the window
 * without a pause: programs that were idle for a moment are slow at first. In 158 runs of 22
 * targets with a lead-in of one second, the second after it was 3 % below the rest, and the one
 * after that equal to it.
 */
export const LEAD_IN_S = 2;
/**
 * A warm-up of `auto` is made of slices, and no request is in flight between two of them. It ends
 * when the last `slices` of them have no trend and at least `min_requests` were sent, or when the
 * target has had the load for `max_s`. By turns each turn of a target is a slice.
 */
export const AUTO_WARMUP = {
  /** The seconds of a slice of a target that does not share its generator by turns. */
  slice_s: 0.3,
  max_s: 10,
  min_requests: 20_000,
  slices: 10,
} as const;

/** The longest warm-up of a target in seconds, without its lead-in. */
export function longestWarmupS(warmup: Warmup, model: Load["model"]): number {
  if (warmup !== "auto") return warmup;
  // An open loop is warmed up by a closed one first.
  return model === "open" ? 2 * AUTO_WARMUP.max_s : AUTO_WARMUP.max_s;
}

/** Describes the warm-up, e.g. `10 s of warm-up` or `up to 10 s of warm-up (until steady)`. */
export function warmupText({
  warmup_s,
  configurations,
  load_curve,
}: {
  warmup_s: Warmup;
  configurations: readonly { configuration: { load: Load } }[];
  load_curve?: object | undefined;
}): string {
  if (warmup_s !== "auto") return `${warmup_s} s of warm-up`;
  // The targets of a load curve are warmed up by turns at full load, whatever loads they have later.
  const models = load_curve
    ? (["closed"] as const)
    : configurations.map(({ configuration }) => configuration.load.model);
  const longest_s = Math.max(...models.map((model) => longestWarmupS(warmup_s, model)));
  return `up to ${longest_s} s of warm-up (until steady)`;
}

/** How much of the machine a role may use. An absent member means that there is no limit. */
export const capsSchema = z.strictObject({
  cpus: z.number().positive().optional(),
  memory_bytes: z.int().positive().optional(),
  /** Cores it may run on, as the engine writes them: `0-1,3`. */
  cpuset: cpuListSchema.optional(),
});
export type Caps = z.infer<typeof capsSchema>;

/** Caps by kind of role: every role of a kind has the same. Kinds without caps are absent. */
export const kindCapsSchema = z.partialRecord(measuredKindSchema, capsSchema);
export type KindCaps = z.infer<typeof kindCapsSchema>;

/** The traffic at the store layer, where the benchmark program draws its keys evenly, at random. */
export const RANDOM_KEYS = "random-keys";

function entryFileName({ layer, workload }: Pick<Configuration, "layer" | "workload">): string {
  if (isClientLayer(layer)) return layer;
  const { id, payload_bytes: bytes } = workload;
  if (!isProgramLayer(layer)) return id;
  return bytes === undefined ? `${layer}-${id}` : `${layer}-${id}-${bytes}b`;
}

/** The id of the workload of apps, whose endpoints are their own. */
export const APP_WORKLOAD = "app";

/** The workload at the limiter layer, where no endpoint is called. */
export const NO_WORKLOAD = { id: "none" } as const;

/** One row of the report, under limits and caps. */
export const configurationSchema = z.strictObject({
  layer: layerSchema,
  target: targetSchema,
  ...dimensionShape,
  /**
   * The workload. It is `NO_WORKLOAD` at the limiter layer, and an operation at the store layer.
   */
  workload: workloadSchema,
  traffic: idSchema,
  load: loadSchema,
  extent: extentSchema,
  limits: limitsSchema,
  /** The faults in the window, in the order of their starts. They are absent without any. */
  faults: z.array(faultSchema).min(1).optional(),
  /** Settings of the target's service that the user gave, as its environment variables. */
  service_env: z.record(z.string(), z.string()).optional(),
  external_store: z.literal(true).optional(),
  /** Whether the app already runs, so that no run starts it. */
  external_server: z.literal(true).optional(),
  /** The caps that the engine applies. It is empty where the runtime applies none. */
  caps: kindCapsSchema,
});
export type Configuration = z.infer<typeof configurationSchema>;

/**
 * JSON with sorted keys and without undefined members, so that equal values have equal
 * texts.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * A hash of 16 hex digits. Versions, machine, runs, order and warm-up are no part of it, so
 * that rows can be followed over time.
 */
export function configurationHash(configuration: Configuration): string {
  const { target, ...properties } = configuration;
  const identity = { ...properties, target: target.text, limiter: target.limiter };
  return createHash("sha256").update(canonicalJson(identity)).digest("hex").slice(0, 16);
}

/** Limits that a campaign can give several values of, besides the cost. */
export type FileNameLimit = "points" | "window_s";
const FILE_NAME_LIMITS = [
  ["points", "points"],
  ["window_s", "s-window"],
] as const;

/**
 * Returns
 * `{target}_{workload}_{load}_{duration}s[_{n}servers…][_{n}points][_{n}s-window][_cost{n}][_{faults}][_{traffic}]`.
 * People read the name, while programs read the identity from the JSON. At the limiter layer the
 * layer stands in place of the workload, and at the store layer `store-{operation}[-{bytes}b]`.
 * @param listed limits of which the campaign has several values, because others are not in the name
 */
export function configurationFileName(
  configuration: Configuration,
  defaultTraffic: string,
  listed: readonly FileNameLimit[] = [],
): string {
  const { layer, target, workload, traffic, load, extent, limits, faults } = configuration;
  const length = "duration_s" in extent ? `${extent.duration_s}s` : `${extent.requests}r`;
  const name = [
    targetFileName(target.label),
    entryFileName({ layer, workload }),
    loadFileName(load),
    length,
    ...dimensions.flatMap(({ key }) => {
      const count = countIn(configuration, key);
      return count > DEFAULT_COUNT ? [`${count}${key}`] : [];
    }),
    ...FILE_NAME_LIMITS.flatMap(([member, unit]) =>
      listed.includes(member) ? [`${limits[member]}${unit}`] : [],
    ),
  ];
  if (limits.cost) name.push(`cost${limits.cost}`);
  if (faults) name.push(faultsFileName(faults));
  if (traffic !== defaultTraffic && !isProgramLayer(layer)) name.push(traffic);

  return name.join("_");
}
