import { z } from "zod";

/** History: 1 — the work of src/machine/host-speed-work.ts as it is. Times of two versions are not compared. */
export const HOST_SPEED_PROBE_VERSION = 1;

const us = z.number().positive();

/** What a fixed piece of work took, on all CPUs at once: microseconds, the median over the CPUs. */
export const hostSpeedSchema = z.strictObject({
  /** A loop of integer operations in registers. */
  integer_us: us,
  /** Reads that depend on each other, in 32 MiB: beyond the second cache. */
  chase_us: us,
  /** A round trip over loopback, both ends in one thread. Noisier than the others; absent where it failed. */
  ping_pong_us: us.optional(),
  /** How many worked at once. */
  cpus: z.int().min(1),
});
export type HostSpeed = z.infer<typeof hostSpeedSchema>;

/** The host just before the parts of a run started, and just after they ended (M21). */
export const runHostSpeedSchema = z.strictObject({ before: hostSpeedSchema, after: hostSpeedSchema });
export type RunHostSpeed = z.infer<typeof runHostSpeedSchema>;

/** How a campaign measured the speed of the host. `wall time` contains the time in which a thread waited for a CPU. */
export const hostSpeedProbeSchema = z.strictObject({
  version: z.int().min(1),
  clock: z.enum(["cpu time", "wall time"]),
});
export type HostSpeedProbeFacts = z.infer<typeof hostSpeedProbeSchema>;
