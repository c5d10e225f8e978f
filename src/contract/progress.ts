import { z } from "zod";

/** A line of the load generator's progress, one JSON object a line on standard error with PROGRESS=json. */
export const progressSchema = z.discriminatedUnion("event", [
  /** `drained`: no request is in flight and none will be sent for a moment: counters can be read. */
  z.strictObject({ event: z.literal("phase"), phase: z.enum(["warmup", "drained", "measure", "finished"]) }),
  z.strictObject({
    event: z.literal("second"),
    t_s: z.number(),
    requests_per_second: z.number(),
    limited_share: z.number(),
    p99_ms: z.number().optional(),
  }),
]);
export type Progress = z.infer<typeof progressSchema>;
