import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "../../contract/configuration.js";
import type { ConsumerEvidence } from "../../contract/consumer-evidence.js";
import type { MeasuredResult } from "../../contract/result.js";
import type { MeasuredKind } from "../../contract/role.js";
import type { Usage } from "../../contract/server-api.js";
import type { Algorithm } from "../../contract/target.js";
import { monotonicMs } from "./clock.js";

/**
 * The processes that call the limiter. At the server layer these are our servers, and at the
 * limiter layer this process.
 */
export interface Consumers {
  kind: MeasuredKind;
  identities: readonly Omit<
    ConsumerEvidence,
    "at_start" | "at_window_open" | "at_end" | "consumes"
  >[];
  /** Versions, limits and algorithm are the same in all of them. */
  versions: Partial<MeasuredResult["versions"]>;
  limits?: Limits;
  algorithm?: Algorithm;
  read(): Promise<Usage[]>;
}

export interface ConsumerReadings extends Omit<Consumers, "read"> {
  at_start: readonly Usage[];
  at_window_open: readonly Usage[];
  at_end: readonly Usage[];
}

/**
 * Waits until no consumer has a request in flight, and reads all counters. Requests count that
 * nobody waits for any more, too.
 */
export async function readDrained(
  { read }: Pick<Consumers, "read">,
  withinMs: number,
): Promise<Usage[]> {
  const deadline = monotonicMs() + withinMs;
  for (;;) {
    const usages = await read();
    if (usages.every(({ in_flight }) => in_flight === 0) || monotonicMs() > deadline) return usages;
    await sleep(10);
  }
}
