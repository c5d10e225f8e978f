import { z } from "zod";
import { apiDefects } from "./api-defects.js";
import { limitsSchema } from "./configuration.js";
import { idSchema, targetSchema } from "./target.js";

export const AUDIT_SCHEMA = "ratelimit-bench/audit";
/**
 * The version of the format. Version 1 was the first. In version 2 what no limiter promises has a
 * status of its own, and a broken check can follow from another one.
 */
export const AUDIT_SCHEMA_VERSION = 2;

/**
 * Whether the limiter keeps its promise. `not-promised` means that no limiter promises what the
 * check tried, whose result is reported all the same. A check that does not apply is skipped, and
 * one that could not be made has failed.
 */
export const checkStatuses = ["holds", "broken", "not-promised", "skipped", "failed"] as const;
export type CheckStatus = (typeof checkStatuses)[number];

const text = z.string().max(2_000);
const MOST_EXCESS = 1_000;

const auditCheckSchema = z.strictObject({
  id: idSchema,
  title: z.string().max(80),
  promise: text,
  matters: text,
});
export type AuditCheck = z.infer<typeof auditCheckSchema>;

const admissionsSchema = z.strictObject({
  seen: z.int().min(0),
  least: z.int().min(0),
  most: z.int().min(0),
});
/** Admitted requests, and the bounds that the declared algorithm sets to them. */
export type AdmissionBounds = z.infer<typeof admissionsSchema>;

const stepSchema = z.strictObject({
  /** What was sent, without credentials. */
  sent: text,
  answered: text,
  /** What was promised for this step. It is absent where the step only prepares the next one. */
  promised: text.optional(),
});
/** A step of the smallest sequence that shows a defect. */
export type Step = z.infer<typeof stepSchema>;

const remedySchema = z.strictObject({
  advice: text,
  /** By library the setting that does it. */
  settings: z.record(z.string(), text),
});
/** What mends a kind of defect of an API. */
export type Remedy = z.infer<typeof remedySchema>;

const findingSchema = z.strictObject({
  check: idSchema,
  status: z.enum(checkStatuses),
  /** The promise in numbers, and what happened. It is absent where nothing was tried. */
  promised: text.optional(),
  seen: text.optional(),
  admissions: admissionsSchema.optional(),
  /**
   * Whether what nobody promises happens nevertheless. It is present only for checks that are not
   * promised.
   */
  holds: z.boolean().optional(),
  /**
   * Admissions beyond the quota that each burst had alike: the broken checks were judged again by
   * quota and excess.
   */
  excess: z.int().min(-MOST_EXCESS).max(MOST_EXCESS).optional(),
  /** The broken check whose defect also breaks this one. */
  consequence_of: idSchema.optional(),
  /** The kind of defect of an API, by which it is found again and mended. */
  defect: z.enum(apiDefects).optional(),
  remedy: remedySchema.optional(),
  /** The smallest sequence of requests to an API that shows it. */
  steps: z.array(stepSchema).max(40).optional(),
  /** Why it was skipped, or could not be tried. */
  reason: text.optional(),
  /** What breaks no promise. */
  notes: z.array(text).optional(),
  limits: limitsSchema.optional(),
  seconds: z.number().min(0),
});
export type Finding = z.infer<typeof findingSchema>;

/** An API that somebody else runs, by which its target is known. Addresses hold no credentials. */
const auditedApiSchema = z.strictObject({
  url: text,
  instances: z.array(text),
  method: z.string().max(20),
  /** The carrier of keys, as `--key` names it. */
  key: text,
  denied_status: z.int().min(100).max(599),
  declared_algorithm: z.string().max(40),
  quota: z.strictObject({
    points: z.int().min(1),
    window_s: z.number().positive(),
    /** The requests that are admitted at once, where those are fewer than the quota. */
    burst: z.int().min(1).optional(),
    /** Whether the audit found it, because nobody named it. */
    found: z.boolean(),
  }),
  /** The requests that were sent in all. */
  requests: z.int().min(0),
});

const auditedTargetSchema = z.strictObject({
  target: targetSchema,
  /** What was audited by its address. It is absent for targets that the audit started itself. */
  api: auditedApiSchema.optional(),
  findings: z.array(findingSchema),
  seconds: z.number().min(0),
});
export type AuditedTarget = z.infer<typeof auditedTargetSchema>;

const counts = z.strictObject({
  holds: z.int().min(0),
  /** Defects, which are broken checks that follow from no other. */
  broken: z.int().min(0),
  consequences: z.int().min(0),
  not_promised: z.int().min(0),
  skipped: z.int().min(0),
  failed: z.int().min(0),
});

/** What `audit.json` says about promises of limiters and what they do. */
export const auditSchema = z.strictObject({
  schema: z.literal(AUDIT_SCHEMA),
  schema_version: z.literal(AUDIT_SCHEMA_VERSION),
  audit: z.string().max(200),
  started_at: z.string(),
  finished_at: z.string(),
  command: z.string(),
  runtime: z.string(),
  harness: z.string(),
  node: z.string(),
  /** Versions of the stores and services that were started, by id. */
  programs: z.record(z.string(), z.string()),
  checks: z.array(auditCheckSchema),
  targets: z.array(auditedTargetSchema),
  skips: z.array(z.strictObject({ asked: z.string(), reason: text })),
  counts,
});
export type Audit = z.infer<typeof auditSchema>;
