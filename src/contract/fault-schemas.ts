import { z } from "zod";
import { type FaultKind, faultActionIds, faultKinds } from "./fault-actions.js";
import { idSchema } from "./target.js";

const seconds = z.number().min(0).max(86_400);

/** Something done to a role at a time in the window. Seconds count from the window's opening. */
export const faultSchema = z.strictObject({
  /** The name is absent for a fault that was written as action and role. */
  name: idSchema.optional(),
  action: z.enum(faultActionIds),
  /** A role such as `store-1`, or a kind such as `store` for all of its roles. */
  role: z.string().regex(new RegExp(`^(${faultKinds.join("|")})(-\\d{1,2})?$`)),
  start_s: seconds,
  /** The length is absent where a fault happens at one moment, or lasts to the end. */
  length_s: seconds.optional(),
});
export type Fault = z.infer<typeof faultSchema>;

export const faultRecordSchema = z.strictObject({
  name: idSchema.optional(),
  action: z.enum(faultActionIds),
  roles: z.array(z.string()),
  /** The planned times. A fault of a moment has a length of 0. */
  planned: z.strictObject({ start_s: seconds, length_s: seconds }),
  /**
   * The time from before the first step of the fault to the end of its undoing. It is absent where
   * the run ended before it.
   */
  injected: z.strictObject({ from_s: z.number(), to_s: z.number() }).optional(),
  undone: z.boolean(),
  note: z.string().optional(),
  /**
   * Connections that the store accepted after the first reading of its counters, without those of
   * the harness. Those between the nodes of a cluster count. It is absent where the store does not
   * report it, and where a run has several faults.
   */
  store_reconnections: z.int().min(0).optional(),
});
export type FaultRecord = z.infer<typeof faultRecordSchema>;

export const faultKind = ({ role }: Pick<Fault, "role">): FaultKind =>
  role.replace(/-\d+$/, "") as FaultKind;
