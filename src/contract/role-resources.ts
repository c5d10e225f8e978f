import { z } from "zod";
import { throttlingSchema } from "../kit/control-groups.js";
import { capsSchema } from "./configuration.js";
import { countSchema } from "./quantities.js";
import { measuredKindSchema } from "./role.js";

/**
 * The resources that one role used in lead-in and window, from cumulative counters at both ends.
 */
export const roleResourcesSchema = z.strictObject({
  kind: measuredKindSchema,
  /** How the counters were read, e.g. `process.cpuUsage`, `pidusage`, `cgroup`. */
  source: z.string(),
  cpu_us: countSchema,
  cpu_percent: z.number().min(0),
  /**
   * CPU time by the requests that were answered between the drained readings or, without a count of
   * them, by sent requests or decisions.
   */
  cpu_us_per_request: z.number().min(0).optional(),
  /**
   * How long its threads were ready to run but had no CPU. Absent if the system does not report it.
   */
  run_delay_us: countSchema.optional(),
  /** CPU time that it used by turns while others had the load. It is in no other figure. */
  idle_us: countSchema.optional(),
  /** CPU time in the long turns of its target, less its idle use (M33). */
  long_turns_cpu_us: countSchema.optional(),
  resident_bytes_mean: countSchema.optional(),
  resident_bytes_max: countSchema.optional(),
  resident_bytes_at_window_open: countSchema.optional(),
  resident_bytes_at_end: countSchema.optional(),
  caps: capsSchema.optional(),
  /**
   * The throttling by the CPU cap in the window, in periods of the scheduler. It is absent without
   * a cap.
   */
  throttling: throttlingSchema.optional(),
  network: z.strictObject({ received_bytes: countSchema, sent_bytes: countSchema }).optional(),
  samples: z.array(
    z.strictObject({
      t_s: z.number(),
      cpu_percent: z.number().min(0),
      resident_bytes: countSchema,
      throttled_periods: countSchema.optional(),
      received_bytes: countSchema.optional(),
      sent_bytes: countSchema.optional(),
    }),
  ),
});
export type RoleResources = z.infer<typeof roleResourcesSchema>;

/** From this percentage of one CPU on, other programs disturb a run (M25). */
export const FOREIGN_CPU_PERCENT = 10;

/**
 * The percentage of one CPU from which on a run is suspect (M25). When targets take turns,
 * foreign CPU time meets all targets alike, and the limit is half of all CPUs.
 */
export const foreignLimitPercent = (byTurns: boolean, cpus: number): number =>
  byTurns ? 50 * cpus : FOREIGN_CPU_PERCENT;

/**
 * How busy the machine was in lead-in and window. Percentages are of one CPU, so two busy CPUs are
 * 200.
 */
export const hostLoadSchema = z.strictObject({
  cpus: z.int().min(1),
  busy_cpu_percent: z.number().min(0),
  /**
   * CPU time of everything except the roles and the harness (M25). With an external store it is a
   * lower bound, because the whole CPU time of the store is subtracted, and the store may run on
   * this machine.
   */
  foreign_cpu_percent: z.number().min(0),
  /**
   * The CPUs that our processes may use, by their affinity and their cpuset; by default all of
   * them.
   */
  cpus_allowed: z.int().min(1).optional(),
});
export type HostLoad = z.infer<typeof hostLoadSchema>;

/** How busy one of several machines was in lead-in and window. */
export const machineLoadSchema = z.strictObject({
  ...hostLoadSchema.shape,
  /**
   * Bytes on all links that a program there sees, without loopback. They are absent where they are
   * not counted.
   */
  network: z.strictObject({ received_bytes: countSchema, sent_bytes: countSchema }).optional(),
});
export type MachineLoad = z.infer<typeof machineLoadSchema>;
