import { z } from "zod";
import { planSchema } from "./plan.js";
import { pluginFactsSchema } from "./plugins.js";
import { runtimeFactsSchema } from "./result.js";
import { versionFactsSchema } from "./versions.js";

export const MANIFEST_SCHEMA = "ratelimit-bench/manifest";
export const MANIFEST_SCHEMA_VERSION = 1;

/** The host, as far as it can matter to a number (M19). Absent members could not be read on this system. */
export const machineSchema = z.strictObject({
  platform: z.string(),
  kernel: z.string(),
  cpu_model: z.string(),
  cpus: z.int().min(1),
  memory_bytes: z.int().min(0),
  governor: z.string().optional(),
  sysctl: z.record(z.string(), z.string()),
  open_files_limit: z.string().optional(),
});
export type Machine = z.infer<typeof machineSchema>;

/** An image as the engine has it. */
export const imageSchema = z.strictObject({
  name: z.string(),
  id: z.string(),
  /** Of the registry; absent for an image that was built here. */
  digest: z.string().optional(),
});

/** What runs the containers. */
export const engineSchema = z.strictObject({
  name: z.string(),
  version: z.string(),
  api_version: z.string(),
  operating_system: z.string(),
  kernel: z.string(),
  cpus: z.int().min(1),
  memory_bytes: z.int().min(0),
  cgroup_version: z.string(),
});

export const storeBinarySchema = z.strictObject({
  /** Of the program, or the image's name. */
  path: z.string(),
  version: z.string(),
  embedded: z.boolean(),
});

/** What must hold for every client's configuration; the campaign fails where it does not. */
export const thresholdSchema = z.strictObject({
  /** As it was asked, e.g. `p99<10ms`. */
  text: z.string(),
  metric: z.enum(["throughput", "p50", "p90", "p95", "p99", "p99_9", "errors", "limited_share", "cpu"]),
  op: z.enum(["<", "<=", ">", ">=", "="]),
  /** Requests/s, milliseconds, shares of 0 to 1, or CPU µs per request of the server. */
  value: z.number().min(0),
  /** In the same unit; with `=` alone. */
  tolerance: z.number().min(0).optional(),
});
export type Threshold = z.infer<typeof thresholdSchema>;

const harnessSchema = z.strictObject({
  version: z.string(),
  git_revision: z.string().optional(),
  node: z.string(),
});

/** A stretch of time in which a campaign was worked on. One that was killed has no end. */
export const sessionSchema = z.strictObject({
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().optional(),
  harness: harnessSchema,
});

/** How far a campaign has come that finds out how many runs it needs. */
export const adaptiveStateSchema = z.strictObject({
  /** Rounds that were asked for, by configuration: what lies beyond was not needed. */
  rounds: z.record(z.string(), z.int().min(0)),
  /** The last round after which it was decided who goes on; 0: none yet. */
  looked: z.int().min(0),
  /** What its rounds took, pauses included. */
  spent_s: z.number().min(0),
  ended: z
    .strictObject({
      /** The last round. */
      round: z.int().min(0),
      why: z.enum(["decided", "max runs", "budget"]),
      /** What is known now, a sentence each, and what is not. */
      concluded: z.array(z.string()),
      not_concluded: z.array(z.string()),
    })
    .optional(),
});
export type AdaptiveState = z.infer<typeof adaptiveStateSchema>;

/** One campaign: its plan, where it ran, and how it ended. */
export const manifestSchema = z.strictObject({
  schema: z.literal(MANIFEST_SCHEMA),
  schema_version: z.literal(MANIFEST_SCHEMA_VERSION),
  campaign: z.string(),
  status: z.enum(["running", "finished", "aborted"]),
  started_at: z.iso.datetime(),
  finished_at: z.iso.datetime().optional(),
  /** The command that repeats the campaign. */
  command: z.string(),
  /** Every setting that bears on what is measured, by flag: `--config manifest.json` repeats the campaign. */
  settings: z.record(z.string(), z.string()).optional(),
  thresholds: z.array(thresholdSchema).optional(),
  /** In their order; more than one where the campaign was resumed. */
  sessions: z.array(sessionSchema).min(1).optional(),
  harness: harnessSchema,
  /** Versions of the packages that decide and talk to the store, by name; those in containers are in the images. */
  libraries: z.record(z.string(), z.string()).optional(),
  machine: machineSchema,
  runtime: runtimeFactsSchema,
  /** Absent where nothing runs in containers, as `images`. */
  engine: engineSchema.optional(),
  /** By store id, and `server` and `loadtest`. */
  images: z.record(z.string(), imageSchema).optional(),
  /** Store programs by store id. */
  stores: z.record(z.string(), storeBinarySchema),
  generator: z.strictObject({ workers: z.int().min(1) }),
  /** What was loaded from outside the project; absent without any. */
  plugins: z.array(pluginFactsSchema).optional(),
  /** What was installed for versions that targets ask for; absent without any. */
  versions: z.array(versionFactsSchema).optional(),
  /** Conditions of the host as a whole, said once. */
  conditions: z.array(z.string()),
  plan: planSchema,
  /** With an adaptive plan alone. */
  adaptive: adaptiveStateSchema.optional(),
});
export type Manifest = z.infer<typeof manifestSchema>;
