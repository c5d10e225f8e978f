import { z } from "zod";
import { machineSchema } from "./manifest.js";

/**
 * What is asked of a machine probe, one line of its standard input each, and what it answers on
 * standard error.
 */

/** The line that a machine probe prints on standard error when it accepts connections. */
export const MACHINE_PROBE_LISTENS = "listening";

const linkSchema = z.strictObject({
  ask: z.literal("link"),
  /** Where another machine probe listens. */
  host: z.string(),
  port: z.int().min(1).max(65_535),
  /** Whether the bandwidth is measured, besides round trips. */
  bandwidth: z.boolean(),
});

const askedSchema = z.discriminatedUnion("ask", [
  z.strictObject({ ask: z.literal("facts") }),
  z.strictObject({ ask: z.literal("counters") }),
  linkSchema,
]);
export type MachineQuestion = z.infer<typeof askedSchema>;
export type LinkQuestion = z.infer<typeof linkSchema>;

export const probedMachineSchema = z.strictObject({
  machine: machineSchema,
  /** Equal for all that runs under one start of one kernel. It is absent where it is not told. */
  kernel_instance: z.string().optional(),
});
export type ProbedMachine = z.infer<typeof probedMachineSchema>;

const amount = z.number().min(0);

/** Counters of a machine since it started. Members that its system does not count are absent. */
export const machineCountersSchema = z.strictObject({
  cpu: z
    .strictObject({
      at_ms: amount,
      cpus: z.int().min(1),
      idle_us: amount,
      stolen_us: amount,
      interrupts_us: amount,
      accounted_us: amount,
    })
    .optional(),
  /**
   * Bytes on the links that the probe sees, without loopback. These are the links of the machine,
   * unless the probe has a network of its own.
   */
  network: z.strictObject({ received_bytes: amount, sent_bytes: amount }).optional(),
});
export type MachineCounters = z.infer<typeof machineCountersSchema>;

export const linkReadingSchema = z.strictObject({
  round_trips_us: z.array(z.number().min(0)).min(1),
  /** The rate is absent where it was not requested, and where a CPU cap held the probe back. */
  sent_bits_per_second: z.number().positive().optional(),
  received_bits_per_second: z.number().positive().optional(),
});
export type LinkReading = z.infer<typeof linkReadingSchema>;

export const machineAnswerSchemas = {
  facts: probedMachineSchema,
  counters: machineCountersSchema,
  link: linkReadingSchema,
} as const;
export type MachineAnswer<Ask extends MachineQuestion["ask"]> = z.infer<
  (typeof machineAnswerSchemas)[Ask]
>;

const requestSchema = z.strictObject({ id: z.int().min(1), question: askedSchema });
const replySchema = z.union([
  z.strictObject({ id: z.int().min(1), answer: z.unknown() }),
  z.strictObject({ id: z.int().min(1), error: z.string() }),
]);
export type MachineReply = { id: number; answer: unknown } | { id: number; error: string };

export const machineRequestLine = (id: number, question: MachineQuestion): string =>
  JSON.stringify({ id, question });

export const parseMachineRequest = (line: string): { id: number; question: MachineQuestion } =>
  requestSchema.parse(JSON.parse(line));

export function parseMachineReply(line: string): MachineReply | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return replySchema.safeParse(JSON.parse(line)).data as MachineReply | undefined;
  } catch {
    return undefined;
  }
}
