import { z } from "zod";

const count = z.int().min(0);
const us = z.number().min(0);

/**
 * A server under instruments (`--diagnose`) since the last reading. What is not known is absent.
 */
export const processDiagnosisSchema = z.strictObject({
  /**
   * Requests to limited routes that were finished meanwhile: the divisor of the figures that are
   * totals.
   */
  requests: count,
  seconds: z.number().min(0),
  /** Pauses of the garbage collection by kind, e.g. `minor`, `major`. */
  gc: z.record(z.string(), z.strictObject({ pauses: count, total_us: us, longest_us: us })),
  /** How late the event loop came to a timer. It is absent where it never did. */
  loop_delay_us: z.strictObject({ mean: us, p50: us, p90: us, p99: us, max: us }).optional(),
  /** Bytes allocated on the heap of the main thread. */
  allocated_bytes: count.optional(),
  /** How often the process's threads waited (`voluntary`) or lost their CPU (`involuntary`). */
  context_switches: z.strictObject({ voluntary: count, involuntary: count }).optional(),
  /**
   * System calls that read or write, of all its threads; calls that are named `recv` and `send` are
   * not counted.
   */
  system_calls: z.strictObject({ reads: count, writes: count }).optional(),
});
export type ProcessDiagnosis = z.infer<typeof processDiagnosisSchema>;

const commandShape = { calls: count, us: count };
/** The store's own percentiles, which it cannot give for a part of its life. */
const percentilesShape = { p50_us: us.optional(), p99_us: us.optional() };

/**
 * Counters of a store node since its statistics were reset. There are more of them than an ordinary
 * reading has.
 */
export const nodeCountersSchema = z.strictObject({
  /** Commands that carry the limiter's decisions, by name. */
  commands: z.record(z.string(), z.strictObject({ ...commandShape, ...percentilesShape })),
  /** Bytes from and to clients, without replication. */
  received_bytes: count.optional(),
  sent_bytes: count.optional(),
});
export type NodeCounters = z.infer<typeof nodeCountersSchema>;

/** The counters of a node from before any load to after the last answer. */
const nodeDiagnosisSchema = z.strictObject({ role: z.string(), ...nodeCountersSchema.shape });
export type NodeDiagnosis = z.infer<typeof nodeDiagnosisSchema>;

export const diagnosisSchema = z.strictObject({
  /** The servers in lead-in and window, by role. There are none at the limiter layer. */
  servers: z.record(z.string(), processDiagnosisSchema),
  nodes: z.array(nodeDiagnosisSchema),
});
export type Diagnosis = z.infer<typeof diagnosisSchema>;

/** The diagnosis of a run that ended before its instruments were read. */
export const NO_DIAGNOSIS: Diagnosis = { servers: {}, nodes: [] };
