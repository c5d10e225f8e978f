import { z } from "zod";
import {
  type Configuration,
  configurationHash,
  configurationSchema,
  loadText,
  warmupSchema,
} from "./configuration.js";
import { numberSchema, wholeIn } from "./ranges.js";
import { idSchema } from "./target.js";

export const PLAN_SCHEMA = "ratelimit-bench/plan";
/**
 * The version of the format. Version 1 was the first. Version 2 has the configurations of result
 * schema 2, version 3 has turns, and version 4 has the configurations of result schema 4.
 */
export const PLAN_SCHEMA_VERSION = 4;

const configurationHashSchema = z.string().regex(/^[0-9a-f]{16}$/);

/**
 * By `turns` the targets of a group are up at once, and one generator gives them the load by turns
 * (M16). `interleaved` runs follow one another in another order each round. `consecutive` runs of a
 * configuration follow each other.
 */
export const orders = ["turns", "interleaved", "consecutive"] as const;
export type Order = (typeof orders)[number];

/**
 * Configurations that are compared with each other. Every configuration is in exactly one ranking,
 * and a control is alone in its own.
 */
const rankingSchema = z.strictObject({
  id: z.string().regex(/^ranking-\d+$/),
  /** The members in the order of the plan, with the reference and its copy. */
  members: z.array(configurationHashSchema).min(1),
  /** The member with which the others are compared. It is absent where one is alone. */
  reference: configurationHashSchema.optional(),
  /** The member that is the reference once more (M31). */
  copy: configurationHashSchema.optional(),
  /**
   * The number of comparisons with the reference that are corrected together (M17). Copies do not
   * count.
   */
  family: z.int().min(0),
  /** Options that all members have, and that keep them apart from rows without. */
  conditions: z.array(z.string()).min(1).optional(),
  /** The one client of a ranking that compares a client with itself. */
  client: z.string().optional(),
  /** The property in which such a ranking compares a client with itself, e.g. `encryption`. */
  varies: z.array(z.string()).min(1).optional(),
});
export type PlannedRanking = z.infer<typeof rankingSchema>;

const plannedRunSchema = z.strictObject({
  configuration_hash: configurationHashSchema,
  run: z.int().min(1),
  /**
   * The number of the round, from 1. It is absent in consecutive order, where it equals the
   * number of the run (see `roundOf`).
   */
  round: z.int().min(1).optional(),
  /** The number of the group in its round, from 1. It is present when targets take turns. */
  group: z.int().min(1).optional(),
  /**
   * Whether the run only serves the others of its group, as reference, copy or control. It is
   * present when targets take turns.
   */
  beside: z.literal(true).optional(),
  /**
   * Whether it has instruments that cost CPU time. It is measured, kept and listed, and never
   * counts.
   */
  diagnose: z.literal(true).optional(),
  file: z.string(),
  /**
   * Whether it is a single trial of a search that brackets the bound. The estimate is of the
   * others.
   */
  bracket: z.literal(true).optional(),
});

/** The ordered list of runs of a campaign, and what was skipped and why. */
export const planSchema = z.strictObject({
  schema: z.literal(PLAN_SCHEMA),
  schema_version: z.literal(PLAN_SCHEMA_VERSION),
  seed: wholeIn("seed"),
  order: z.enum(orders),
  /**
   * The number of rounds, or its maximum if runs are adaptive. When targets take turns, a reference
   * has a run in each group of its ranking.
   */
  runs_per_configuration: z.int().min(1),
  /**
   * The largest difference that does not matter to the reader (M17), in %. Older plans do not have
   * it. Their margin is `MARGIN_SHARE`.
   */
  margin_percent: numberSchema("margin").optional(),
  /** Present where the campaign decides how many runs each configuration needs. */
  adaptive: z
    .strictObject({
      /**
       * Rounds after which the campaign decides which configurations go on; the last one is the
       * maximum.
       */
      looks: z.array(z.int().min(1)).min(1),
      budget_s: z.number().positive().optional(),
      /**
       * The loss against the reference that a gate tolerates, in %. It is absent where rankings
       * decide which configurations go on.
       */
      tolerate_percent: numberSchema("tolerate").optional(),
    })
    .optional(),
  /**
   * A search for the highest rate (M30), whose trials are planned as it goes. It is absent without
   * one.
   */
  max_rate: z
    .strictObject({
      /** What a trial has to keep, as the user wrote it. */
      objectives: z.array(z.string()).min(1),
      /** Requests/s: the first rate, and the lowest and highest that are tried. */
      from: z.number().positive(),
      min: z.number().positive(),
      max: z.number().positive(),
      trials_per_rate: z.int().min(1),
      budget_s: z.number().positive().optional(),
    })
    .optional(),
  /** The loads of a load curve, which each target has. It is absent in other campaigns. */
  load_curve: z
    .strictObject({
      /** In requests/s. */
      rates: z.array(z.number().positive()),
      /** Whether each target is also measured at full load. */
      saturation: z.boolean(),
      /** Whether a short saturation phase chose the rates. */
      chosen: z.literal(true).optional(),
    })
    .optional(),
  /**
   * How the rates of all configurations were found. It is absent where they were given, or there are
   * none.
   */
  calibration: z
    .strictObject({
      /** The share of the slowest throughput that is the one rate. */
      share: z.number().positive().max(1).optional(),
      /** The shares of the slowest throughput that are the rates of a load curve. */
      shares: z.array(z.number().positive().max(1)).min(1).optional(),
      window_s: z.number().positive(),
      rate_per_second: z.number().positive().optional(),
      /** The throughput of each trial, in closed loops without faults. */
      measured: z.array(
        z.strictObject({ name: z.string(), requests_per_second: z.number().positive() }),
      ),
    })
    .optional(),
  /** How the number of generators was found. It is absent where it was given. */
  generator_trials: z
    .strictObject({
      /** The number that was found, which all configurations have. */
      generators: z.int().min(1),
      window_s: z.number().positive(),
      /**
       * The trials in their order. A load that did not saturate its generators was not measured
       * with more of them.
       */
      measured: z.array(
        z.strictObject({
          name: z.string(),
          generators: z.int().min(1),
          requests_per_second: z.number().min(0),
          /** Whether the generator reached its limit (M6). */
          is_saturated: z.boolean(),
        }),
      ),
    })
    .optional(),
  warmup_s: warmupSchema,
  cooldown_s: z.number().min(0),
  /** Seconds between clients. It is present only in consecutive order. */
  client_cooldown_s: z.number().min(0),
  configurations: z.array(
    z.strictObject({
      hash: configurationHashSchema,
      configuration: configurationSchema,
      /** The load of the configuration in words, see `loadText`. */
      load_text: z.string(),
    }),
  ),
  runs: z.array(plannedRunSchema),
  /**
   * The runs of one further round by turns. They are made, and stand among the runs, only where
   * invalid runs leave a comparison one pair short of a decision (see `spare_round` of the manifest).
   */
  spare_runs: z.array(plannedRunSchema).min(1).optional(),
  /**
   * Members that a group gets once more, as targets of their own whose turns count nowhere, so that
   * all groups of a configuration have one size (M16). It is absent where no group is short.
   */
  fillers: z
    .array(
      z.strictObject({
        round: z.int().min(1),
        group: z.int().min(1),
        configuration_hash: configurationHashSchema,
      }),
    )
    .optional(),
  skips: z.array(z.strictObject({ asked: z.string(), reason: z.string() })),
  /** Notes for the reader of the figures, e.g. that ioredis runs on Valkey. */
  notes: z.array(z.string()),
  /**
   * The origin of targets and traffic that are not the project's own, and what is expected of that
   * traffic.
   */
  sources: z.array(z.string()).optional(),
  /**
   * What is ranked with what. Each plan of this version has it. In older plans, which only the report
   * reads, the next two members are in its place.
   */
  rankings: z.array(rankingSchema).optional(),
  /** The hashes of the references of all rankings. Only older plans have them. */
  references: z.array(configurationHashSchema).optional(),
  /** Whether rankings have rows of several web frameworks. Only older plans have it. */
  compare_frameworks: z.literal(true).optional(),
  /** Whether the references were added to a single target, without being requested (M22). */
  reference_added: z.literal(true).optional(),
  /**
   * Store with which the others of the store layer are compared. It is absent without that layer.
   */
  reference: idSchema.optional(),
});
export type Plan = z.infer<typeof planSchema>;

export type PlannedConfiguration = Plan["configurations"][number];
export type PlannedRun = Plan["runs"][number];

/** A configuration as a plan holds it. */
export const plannedFrom = (configuration: Configuration): PlannedConfiguration => ({
  hash: configurationHash(configuration),
  configuration,
  load_text: loadText(configuration),
});

export function plannedConfiguration(
  { configurations }: Pick<Plan, "configurations">,
  hash: string,
): PlannedConfiguration {
  const planned = configurations.find((configuration) => configuration.hash === hash);
  if (!planned) throw new Error(`the plan has a run of an unknown configuration ${hash}`);
  return planned;
}

/**
 * The runs in parts that are measured one after the other. When targets take turns a part
 * is a group, and otherwise a run.
 */
export function* unitsOf<Run extends Pick<PlannedRun, "round" | "group" | "diagnose">>(
  { order }: Pick<Plan, "order">,
  runs: readonly Run[],
): Generator<[Run, ...Run[]]> {
  for (let start = 0; start < runs.length; ) {
    const [first, ...later] = runs.slice(start);
    if (!first) return;
    const isOther = ({ round, group, diagnose }: Run): boolean =>
      order !== "turns" || diagnose === true || round !== first.round || group !== first.group;
    const end = first.diagnose ? 0 : later.findIndex(isOther);
    const others = end < 0 ? later : later.slice(0, end);
    yield [first, ...others];
    start += 1 + others.length;
  }
}

export const roundOf = ({ round, run }: Pick<PlannedRun, "round" | "run">): number => round ?? run;

export const countedRuns = ({ runs }: Pick<Plan, "runs">, hash: string): number =>
  runs.filter((run) => run.configuration_hash === hash && isCounted(run)).length;

export const isCounted = ({ diagnose }: Pick<PlannedRun, "diagnose">): boolean => !diagnose;
