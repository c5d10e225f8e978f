import { z } from "zod";
import { configurationSchema } from "./configuration.js";
import { outcomeStatuses } from "./judgement.js";
import { orders, planSchema } from "./plan.js";
import { progressSecondShape } from "./progress.js";
import {
  adaptiveRowSchema,
  adaptiveSummarySchema,
  maxRateRowSchema,
  summaryRowSchema,
  thresholdRowSchema,
} from "./summary.js";

export const EVENT_SCHEMA = "ratelimit-bench/event";
/** Version 1 is the first format. */
export const EVENT_SCHEMA_VERSION = 1;

const count = z.int().min(0);
const seconds = z.number().min(0);
const at = z.iso.datetime();
/** Position of a run in the plan, from 1, and how many there are. */
const place = { number: z.int().min(1), of: z.int().min(1) };
const round = count.optional();
/**
 * Seconds until the end of the campaign by the plan's estimate, corrected by the duration of
 * finished runs.
 */
const time_left_s = seconds;

const roundMembers = {
  round: z.int().min(1),
  /** The number of rounds of the plan, or their maximum if runs are adaptive. */
  of: z.int().min(1),
  runs: z.array(z.int().min(1)),
  time_left_s,
};

/**
 * The phases in the order of a run. `cooldown` comes before the next run, and `report` after the
 * last one.
 */
export const phases = [
  "starting",
  "store ready",
  "server ready",
  "connected",
  "warmup",
  "drained",
  "measure",
  "finished",
  "read",
  "stopped",
  "cooldown",
  "report",
] as const;
export type Phase = (typeof phases)[number];

const runStatuses = ["valid", "suspect", "invalid", "failed", "aborted"] as const;
export type RunStatus = (typeof runStatuses)[number];

/**
 * A line of `--json` on standard output, which is an event of a campaign. The last one is `ended`.
 */
export const eventSchema = z.discriminatedUnion("event", [
  z.strictObject({
    event: z.literal("opened"),
    at,
    schema: z.literal(EVENT_SCHEMA),
    schema_version: z.literal(EVENT_SCHEMA_VERSION),
  }),
  /**
   * A message. Warnings also go to standard error, and `setup` announces a step of more than a few
   * seconds.
   */
  z.strictObject({
    event: z.literal("notice"),
    at,
    level: z.enum(["info", "setup", "warning"]),
    text: z.string(),
  }),
  /** A detail, e.g. a line of one of the programs. It is present only with `--verbose`. */
  z.strictObject({ event: z.literal("detail"), at, role: z.string().optional(), text: z.string() }),
  /** The plan is made and the campaign's folder exists. */
  z.strictObject({
    event: z.literal("campaign"),
    at,
    campaign: z.string(),
    folder: z.string(),
    runtime: z.string(),
    /**
     * The number of runs of the plan. It is the maximum if runs are adaptive, and the expected
     * number of trials of a search.
     */
    runs: count,
    /** What the trials of a search for the highest rate have to keep. It is absent without one. */
    objectives: z.array(z.string()).optional(),
    /** What an adaptive campaign takes at least. */
    at_least: z.strictObject({ runs: count, estimate_s: seconds }).optional(),
    configurations: planSchema.shape.configurations,
    runs_per_configuration: z.int().min(1),
    order: z.enum(orders),
    margin_percent: planSchema.shape.margin_percent,
    seed: count,
    estimate_s: seconds,
    skips: planSchema.shape.skips,
  }),
  /** A run that was measured before this session. It counts, and is not repeated. */
  z.strictObject({
    event: z.literal("run_kept"),
    at,
    ...place,
    file: z.string(),
    round,
    status: z.enum(runStatuses),
    /** What the target did with the load. It is absent where that is not known. */
    outcome: z.enum(outcomeStatuses).optional(),
  }),
  /**
   * Runs of a group begin at the same time when targets take turns. A `run_started` of each
   * follows.
   */
  z.strictObject({ event: z.literal("round_started"), at, ...roundMembers }),
  z.strictObject({
    event: z.literal("run_started"),
    at,
    ...place,
    /** The file of the result, relative to the campaign's folder. */
    file: z.string(),
    run: z.int().min(0),
    round,
    runs_per_configuration: z.int().min(1),
    /** What the trial of a search is for. It is absent without one. */
    search: z.enum(["bracket", "estimate"]).optional(),
    /** Whether the number of runs is a maximum, because an adaptive campaign may need fewer. */
    at_most: z.literal(true).optional(),
    /** It has instruments, and never counts. */
    diagnose: z.literal(true).optional(),
    configuration_hash: z.string(),
    configuration: configurationSchema,
    time_left_s,
  }),
  z.strictObject({
    event: z.literal("phase"),
    at,
    /**
     * The number of the run. It is absent between runs and by turns, where an event is about all
     * runs of a round.
     */
    number: z.int().min(1).optional(),
    phase: z.enum(phases),
    lasts_s: seconds.optional(),
  }),
  /**
   * Live figures of one second of the window, as the load generator reports them. They are not for
   * publication.
   */
  z.strictObject({
    event: z.literal("second"),
    at,
    number: z.int().min(1),
    ...progressSecondShape,
    time_left_s,
  }),
  z.strictObject({
    event: z.literal("run_finished"),
    at,
    ...place,
    file: z.string(),
    run: z.int().min(0),
    round,
    /** It has instruments, and never counts. */
    diagnose: z.literal(true).optional(),
    configuration_hash: z.string(),
    status: z.enum(runStatuses),
    /** What the target did with the load. It is absent where that is not known. */
    outcome: z.enum(outcomeStatuses).optional(),
    outcome_text: z.string().optional(),
    reasons: z.array(
      z.strictObject({
        rule: z.string(),
        severity: z.enum(["suspect", "invalid"]),
        text: z.string(),
      }),
    ),
    figures: z
      .strictObject({
        requests_per_second: z.number().min(0),
        /** These are absent when nothing was answered. */
        mean_ms: z.number().min(0).optional(),
        p50_ms: z.number().min(0).optional(),
        p99_ms: z.number().min(0).optional(),
        mean_at_least_ms: z.number().min(0).optional(),
        p50_at_least_ms: z.number().min(0).optional(),
        p99_at_least_ms: z.number().min(0).optional(),
        limited_share: z.number().min(0).max(1).optional(),
        server_cpu_us_per_request: z.number().min(0).optional(),
      })
      .optional(),
    /** Seconds from the start of the run until it was saved. */
    took_s: seconds,
    time_left_s,
  }),
  z.strictObject({ event: z.literal("round_finished"), at, ...roundMembers, took_s: seconds }),
  /** An adaptive campaign has decided which configurations go on. */
  z.strictObject({
    event: z.literal("look"),
    at,
    round: z.int().min(1),
    go_on: count,
    /** Configurations that need no more runs since this look. */
    done: z.array(adaptiveRowSchema),
    /** Planned runs that this look makes unnecessary. */
    not_needed: count,
    time_left_s,
  }),
  /** Further runs are planned: trials of a search for the highest rate, or a spare round. */
  z.strictObject({
    event: z.literal("planned"),
    at,
    /** How many runs the campaign is expected to have, including those that were made. */
    runs: count,
    time_left_s,
  }),
  z.strictObject({
    event: z.literal("report"),
    at,
    path: z.string(),
    /** The last screen as text, with picture and table, at most 80 columns wide. */
    screen: z.array(z.string()),
    configurations: z.array(summaryRowSchema),
    thresholds: z.array(thresholdRowSchema),
    adaptive: adaptiveSummarySchema.optional(),
    max_rate: z.array(maxRateRowSchema).optional(),
  }),
  /** The last line of a command. The process ends with this code. */
  z.strictObject({
    event: z.literal("ended"),
    at,
    exit_code: z.int().min(0).max(255),
    reason: z.string().optional(),
    folder: z.string().optional(),
    runs: z.strictObject({
      valid: count,
      suspect: count,
      invalid: count,
      failed: count,
      aborted: count,
      kept: count,
      not_begun: count,
    }),
  }),
]);
export type CampaignEvent = z.infer<typeof eventSchema>;

export type EventOf<Kind extends CampaignEvent["event"]> = Extract<CampaignEvent, { event: Kind }>;
