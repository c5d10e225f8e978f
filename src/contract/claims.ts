import { z } from "zod";
import { layerSchema } from "./layers.js";
import { idSchema } from "./target.js";

/** What compared rows are compared by. `store_memory` is resident; `bytes_per_key` is of fresh keys alone. */
export const claimMetrics = [
  "throughput",
  "p50",
  "p99",
  "cpu",
  "store_cpu",
  "service_cpu",
  "store_memory",
  "bytes_per_key",
] as const;

const text = z.string().min(1).max(2_000);

/** Rows of a campaign: those that agree in each member. */
const rowSchema = z.strictObject({
  /** As `--clients` takes it; one store is named, because the default depends on the machine. */
  target: z.string().min(1).max(200).optional(),
  /** Server of the store layer. */
  store: idSchema.optional(),
  layer: layerSchema.optional(),
  workload: idSchema.optional(),
  traffic: idSchema.optional(),
  /** Of a closed loop. */
  connections: z.int().min(1).optional(),
  /** Requests/s of an open loop. */
  rate: z.number().positive().optional(),
  points: z.int().min(1).optional(),
  cost: z.int().min(1).optional(),
  /** Requests of a run that ends after them. */
  requests: z.int().min(1).optional(),
  /** Operation of the store layer, and the bytes of its values. */
  operation: idSchema.optional(),
  payload_bytes: z.int().min(1).optional(),
});
export type ClaimRow = z.infer<typeof rowSchema>;

/** A published figure in the metric's unit, with which a row is compared in the place of another row. */
const publishedSchema = z.strictObject({ published: z.number().positive() });

const expectedSchema = z.strictObject({
  /** As published; absent where the publication gives no figure. */
  ratio: z.number().positive().optional(),
  /** The claim holds if the ratio lies between these bounds. */
  at_least: z.number().positive().optional(),
  at_most: z.number().positive().optional(),
  /** It is refuted if the ratio lies beyond one of these. */
  refuted_below: z.number().positive().optional(),
  refuted_above: z.number().positive().optional(),
});
export type ClaimExpectation = z.infer<typeof expectedSchema>;

/** Ratio of `new` to `base`. */
const comparisonSchema = z.strictObject({
  id: idSchema,
  /** The campaign that measures both rows: a file of `campaigns/`, without its ending. */
  campaign: idSchema,
  metric: z.enum(claimMetrics),
  /** What both rows have in common. */
  where: rowSchema.optional(),
  new: rowSchema,
  base: z.union([rowSchema, publishedSchema]),
  /** Under which conditions, in words. */
  conditions: text,
  /** These are the conditions of the publication, as far as they are known. Else they are other ones. */
  as_published: z.boolean(),
  /** Absent where the comparison only explains others. */
  expected: expectedSchema.optional(),
});
export type ClaimComparison = z.infer<typeof comparisonSchema>;

const claimShape = {
  /** The claim in a few words, for tables. */
  title: z.string().min(1).max(120),
  /** As it was published. */
  sentence: text,
  /** Members that are not known are absent. */
  source: z.strictObject({
    project: text,
    title: text.optional(),
    date: z
      .string()
      .regex(/^\d{4}(-\d\d(-\d\d)?)?$/, "give a date as YYYY, YYYY-MM or YYYY-MM-DD, in quotes")
      .optional(),
    version: text.optional(),
    address: z
      .string()
      .max(500)
      .regex(/^https:\/\/\S+$/, "give an address that begins with https://")
      .optional(),
  }),
  /** How it was measured there. What is absent was not said. */
  measured_there: z.strictObject({
    load: text.optional(),
    keys: text.optional(),
    limits: text.optional(),
    versions: text.optional(),
    hardware: text.optional(),
    repetitions: text.optional(),
    /** What else a reader would have to know. */
    not_said: z.array(text).optional(),
  }),
  /** What would refute it, in words. */
  refuted_by: text,
  comparisons: z.array(comparisonSchema).optional(),
  /** Steps whose ratios multiply to another one, each with the cause that it shows. */
  decomposition: z
    .strictObject({
      of: idSchema,
      steps: z.array(z.strictObject({ comparison: idSchema, cause: text })).min(2),
    })
    .optional(),
  /** The published conditions cannot be measured by this harness: why, and what it takes. */
  cannot_be_told: z.strictObject({ why: text, takes: text }).optional(),
  /** A program that must be named by `--program NAME=PATH`, and where it comes from. */
  needs: z.strictObject({ program: idSchema, from: text }).optional(),
  notes: z.array(text).optional(),
} as const;

/** A file of `claims/`. Its name is the claim's id. */
export const claimSchema = z.strictObject(claimShape).meta({ title: "A published claim" });
export type Claim = z.infer<typeof claimSchema>;

export const CLAIMS_SCHEMA = "ratelimit-bench/claims";
/** History: 1 — first format. */
export const CLAIMS_SCHEMA_VERSION = 1;

const hash = z.string().regex(/^[0-9a-f]{16}$/);

/** A comparison with the rows of the campaign that measured it. */
const resolvedComparisonSchema = z.strictObject({
  ...comparisonSchema.shape,
  new_text: text,
  base_text: text,
  /** Hashes of configurations; `base` is empty where it is a published figure. Absent where a row is missing. */
  rows: z.strictObject({ new: z.array(hash).min(1), base: z.array(hash) }).optional(),
  /** Why rows are missing. */
  missing: text.optional(),
});

/** register.json: all claims, and where they were measured. The report reads it. */
export const claimsRegisterSchema = z.strictObject({
  schema: z.literal(CLAIMS_SCHEMA),
  schema_version: z.literal(CLAIMS_SCHEMA_VERSION),
  harness: z.string(),
  claims: z.array(
    z.strictObject({ id: idSchema, ...claimShape, comparisons: z.array(resolvedComparisonSchema) }),
  ),
  campaigns: z.array(
    z.strictObject({
      id: idSchema,
      /** Beside the folder of register.json; absent where it was not measured. */
      folder: z.string().optional(),
      /** Of the other finished campaigns, the newest first. */
      earlier: z.array(z.string()).optional(),
      /** Settings that differ from those of its file, each in words. */
      differs: z.array(text),
    }),
  ),
});
export type ClaimsRegister = z.infer<typeof claimsRegisterSchema>;

/** How a claim ends. */
export const claimVerdicts = [
  "holds",
  "does not hold",
  "holds under other conditions",
  "cannot be told here",
  "not measured yet",
] as const;

export const CLAIM_VERDICTS_SCHEMA = "ratelimit-bench/claim-verdicts";
/** History: 1 — first format. */
export const CLAIM_VERDICTS_SCHEMA_VERSION = 1;

const interval = z.strictObject({ low: z.number(), high: z.number().nullable() });

/** verdicts.json, which the report writes. Ratios are new ÷ base. */
export const claimVerdictsSchema = z.strictObject({
  schema: z.literal(CLAIM_VERDICTS_SCHEMA),
  schema_version: z.literal(CLAIM_VERDICTS_SCHEMA_VERSION),
  claims: z.array(
    z.strictObject({
      id: idSchema,
      verdict: z.enum(claimVerdicts),
      /** Why; empty where nothing is left to say. */
      reason: z.string(),
      comparisons: z.array(
        z.strictObject({
          id: idSchema,
          /** Null where nothing was expected. */
          verdict: z.enum(claimVerdicts).nullable(),
          reason: z.string(),
          takes: z.string(),
          ratio: z.number().nullable(),
          interval: interval.nullable(),
          runs: z.int().min(0),
          /** Of the copy of a reference; null without one. */
          copy: z
            .strictObject({
              ratio: z.number().nullable(),
              interval: interval.nullable(),
              told_apart: z.boolean(),
            })
            .nullable(),
        }),
      ),
    }),
  ),
});
export type ClaimVerdicts = z.infer<typeof claimVerdictsSchema>;
