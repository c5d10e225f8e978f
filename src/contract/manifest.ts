import { z } from "zod";
import { cpuListSchema } from "../kit/cpu-list.js";
import { appIdentitySchema } from "./app.js";
import { installedVersionSchema } from "./library-versions.js";
import { machineLinkSchema, runtimeMachineSchema } from "./machines.js";
import { planSchema } from "./plan.js";
import { pluginIdentitySchema } from "./plugins.js";
import { numberSchema } from "./ranges.js";
import { runtimeRecordSchema } from "./result.js";
import { turnLengthsSchema } from "./turns.js";

export const MANIFEST_SCHEMA = "ratelimit-bench/manifest";
/**
 * The version of the format. Version 1 was the first. Version 2 has the configurations and caps of
 * result schema 2, version 3 has turns, and version 4 has the configurations of result schema 4 and
 * machines without an id.
 */
export const MANIFEST_SCHEMA_VERSION = 4;

/** The oldest version of results and manifests that the report converts. */
export const OLDEST_REPORTED_VERSION = 2;

/**
 * Why a manifest of another schema version is refused, with the remedy. It is undefined for
 * one of this version.
 */
export function otherVersionReason(version: unknown): string | undefined {
  if (version === MANIFEST_SCHEMA_VERSION) return undefined;
  const isReported =
    typeof version === "number" &&
    version >= OLDEST_REPORTED_VERSION &&
    version < MANIFEST_SCHEMA_VERSION;
  const report = isReported ? " (ratelimit-bench report still reads it)" : "";
  return `schema_version is ${version}; this version continues ${MANIFEST_SCHEMA_VERSION}${report}: measure again with the command in its README.md`;
}

/**
 * The members that tell one machine from another. All else about it is measured, or changes with a
 * restart, and is only shown.
 */
export const MACHINE_KEY = ["cpu_model", "microcode", "cpus", "kernel"] as const;

/**
 * Properties of the host that can affect a figure (M19). Members that this system does not report are
 * absent.
 */
export const machineSchema = z.strictObject({
  platform: z.string(),
  kernel: z.string(),
  cpu_model: z.string(),
  /** The version that the first CPU runs. */
  microcode: z.string().optional(),
  cpus: z.int().min(1),
  /**
   * The CPUs that a campaign of local processes may use, by affinity, cpuset and control groups; by
   * default all of them.
   */
  cpus_allowed: z.int().min(1).optional(),
  cpu_quota: z.number().positive().optional(),
  memory_limit_bytes: z.int().min(0).optional(),
  memory_bytes: z.int().min(0),
  governor: z.string().optional(),
  /** Whether a core runs several threads at once. */
  smt: z.boolean().optional(),
  siblings: z.array(cpuListSchema).optional(),
  caches: z
    .array(
      z.strictObject({
        level: z.int().min(1),
        type: z.string(),
        size_bytes: z.int().min(0),
        /**
         * The CPUs that share the cache, as a list. There is one entry for each kind of cache of
         * CPU 0.
         */
        cpus: cpuListSchema,
      }),
    )
    .optional(),
  numa_nodes: z.array(z.string()).optional(),
  /** The hypervisor of a virtual machine, or `none` on bare metal. */
  hypervisor: z.string().optional(),
  /**
   * The milliseconds that a fixed loop of integers took before the first run. This index decides
   * nothing (M21).
   */
  index_ms: z.number().positive().optional(),
  sysctl: z.record(z.string(), z.string()),
  open_files_limit: z.string().optional(),
});
export type Machine = z.infer<typeof machineSchema>;

const imageSchema = z.strictObject({
  name: z.string(),
  id: z.string(),
  /** Digest of the registry. It is absent for an image that was built here. */
  digest: z.string().optional(),
  /**
   * Whether it has the digest that the project lists for its tag. It is absent for tags that are
   * not listed.
   */
  pinned: z.boolean().optional(),
});
export type ImageIdentity = z.infer<typeof imageSchema>;

const engineSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  api_version: z.string(),
  operating_system: z.string(),
  kernel: z.string(),
  cpus: z.int().min(1),
  memory_bytes: z.int().min(0),
  cgroup_version: z.string(),
});
export type EngineProperties = z.infer<typeof engineSchema>;

const storeBinarySchema = z.strictObject({
  path: z.string(),
  version: z.string(),
  embedded: z.boolean(),
});

/** A condition for every client's configuration; the campaign fails if one does not meet it. */
const thresholdSchema = z.strictObject({
  text: z.string(),
  metric: z.enum([
    "throughput",
    "p50",
    "p90",
    "p95",
    "p99",
    "p99_9",
    "errors",
    "limited_share",
    "cpu",
    "server_cores",
    "store_cores",
    "service_cores",
  ]),
  op: z.enum(["<", "<=", ">", ">=", "="]),
  /**
   * Requests/s, milliseconds, shares of 0 to 1, CPU µs per request of the server, or numbers of CPUs
   * that are kept busy.
   */
  value: z.number().min(0),
  /**
   * The rate in requests/s at which it must hold, by the points of a load curve (M35). Without it,
   * it must hold in each configuration.
   */
  at_per_second: numberSchema("rate").optional(),
  /**
   * How far the value may lie from the expected one, in the same unit. It is present only with `=`.
   */
  tolerance: z.number().min(0).optional(),
});
export type Threshold = z.infer<typeof thresholdSchema>;

/** A side of a claim's comparison as its file names it: a target, or some members of its row. */
export const namedRowSchema = z.union([
  z.string(),
  z.record(z.string(), z.union([z.string(), z.number()])),
]);

/** The criterion of a claim's comparison, as it was when the campaign started (M20). */
const criterionSchema = z.strictObject({
  claim: z.string(),
  metric: z.string(),
  of: namedRowSchema,
  against: namedRowSchema,
  /** The hash of its ranges. */
  sha256: z.string(),
});
export type RegisteredCriterion = z.infer<typeof criterionSchema>;

const harnessSchema = z.strictObject({
  version: z.string(),
  git_revision: z.string().optional(),
  node: z.string(),
});

const campaignMachineSchema = runtimeMachineSchema.extend({
  /** What a program on the machine found. It is absent where that failed. */
  facts: machineSchema.optional(),
  /**
   * The machines that are the same computer, so that they share its CPUs, memory and clock. It is
   * absent where the machine is a computer of its own.
   */
  shares_kernel_with: z.array(z.string()).min(1).optional(),
});
export type CampaignMachine = z.infer<typeof campaignMachineSchema>;

const sessionSchema = z.strictObject({
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().optional(),
  harness: harnessSchema,
  links: z.array(machineLinkSchema).optional(),
});

const adaptiveStateSchema = z.strictObject({
  /** Number of rounds that each configuration needed, by hash. */
  rounds: z.record(z.string(), z.int().min(0)),
  /** The last round after which a look was taken. It is 0 before the first look. */
  looked: z.int().min(0),
  spent_s: z.number().min(0),
  ended: z
    .strictObject({
      round: z.int().min(0),
      why: z.enum(["decided", "max runs", "budget"]),
      concluded: z.array(z.string()),
      not_concluded: z.array(z.string()),
    })
    .optional(),
});
export type AdaptiveState = z.infer<typeof adaptiveStateSchema>;

const maxRateStateSchema = z.strictObject({
  /** The trials that were made, in the order of the plan. */
  trials: z.array(
    z.strictObject({
      file: z.string(),
      /**
       * `void` means that the measurement is broken or failed, so that it says nothing about the
       * rate.
       */
      status: z.enum(["kept", "missed", "void"]),
      /** Why it was missed or is void. It is empty where it was kept. */
      reason: z.string(),
    }),
  ),
  spent_s: z.number().min(0),
  ended: z.strictObject({ why: z.enum(["done", "budget"]) }).optional(),
});
export type MaxRateState = z.infer<typeof maxRateStateSchema>;

export const manifestSchema = z.strictObject({
  schema: z.literal(MANIFEST_SCHEMA),
  schema_version: z.literal(MANIFEST_SCHEMA_VERSION),
  campaign: z.string(),
  status: z.enum(["running", "finished", "aborted"]),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().optional(),
  command: z.string(),
  /**
   * Every setting that affects the results, by flag: `--config manifest.json` repeats the campaign.
   */
  settings: z.record(z.string(), z.string()).optional(),
  thresholds: z.array(thresholdSchema).optional(),
  /**
   * The rate in requests/s for which the report says how many cores a target needs, by the points of
   * a load curve. It is absent without one that was asked for.
   */
  plan_for_per_second: numberSchema("rate").optional(),
  /** The criteria of the claims in its file. They are absent without any. */
  criteria: z.array(criterionSchema).min(1).optional(),
  /** The sessions in order. There are several if the campaign was resumed. */
  sessions: z.array(sessionSchema).min(1).optional(),
  harness: harnessSchema,
  /**
   * Versions of the clients' and limiters' packages, by name; in containers they are part of the
   * images.
   */
  libraries: z.record(z.string(), z.string()).optional(),
  /** The machine of the command; without `machines` that of the runs, too. */
  machine: machineSchema,
  /**
   * The machines on which runs may take place. They are absent where they take place on one alone.
   */
  machines: z.array(campaignMachineSchema).min(1).optional(),
  runtime: runtimeRecordSchema,
  engine: engineSchema.optional(),
  images: z.record(z.string(), imageSchema).optional(),
  stores: z.record(z.string(), storeBinarySchema),
  /** The apps of the plan, by name. They are absent without any. */
  apps: z.record(z.string(), appIdentitySchema).optional(),
  /** Files of the modules that targets use, by id. They are absent without any. */
  modules: z.record(z.string(), z.strictObject({ sha256: z.string() })).optional(),
  generator: z.strictObject({ workers: z.int().min(1) }),
  plugins: z.array(pluginIdentitySchema).optional(),
  versions: z.array(installedVersionSchema).optional(),
  conditions: z.array(z.string()),
  plan: planSchema,
  /**
   * The lengths of the turns by configuration, as the first round has found them. They are absent
   * in other orders.
   */
  turns: z.record(z.string(), turnLengthsSchema).optional(),
  /**
   * Results of rounds that were interrupted and measured again as a whole. They enter no figure.
   */
  set_aside: z.array(z.string().regex(/^aborted\/[\w][\w.+-]*$/)).optional(),
  /** The spare round of the plan, where it was needed: its number, and the rounds that it replaces. */
  spare_round: z
    .strictObject({ round: z.int().min(1), replaces: z.array(z.int().min(1)).min(1) })
    .optional(),
  adaptive: adaptiveStateSchema.optional(),
  max_rate: maxRateStateSchema.optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
