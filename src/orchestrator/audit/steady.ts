import type { Admissions } from "../../contract/audit.js";
import type { AuditedSystem } from "./audited-system.js";
import { admittedInAll } from "./expected.js";
import { judgedBursts } from "./scripted.js";

/** How long it sends, in windows: half a window more shows windows that are a bit too long. */
const WINDOWS = 4.5;
/** Offered requests, in quotas per window. */
const OFFERED = 2.5;
/** By how much a count may differ from the model for each window: sends and answers take time. */
const SLACK_PER_WINDOW = 1;

export interface Steady extends Admissions {
  requests: number;
  seconds: number;
}

/**
 * A key that always asks for more, evenly.
 * @param servers places of those that get its requests: each time one request each
 */
export async function steady(system: AuditedSystem, servers: readonly number[] = [0]): Promise<Steady> {
  const times = Math.ceil((WINDOWS * OFFERED * system.limits.points) / servers.length);
  const every_ms = (WINDOWS * system.window_ms) / times;
  const script = Array.from({ length: times }, (_, n) => ({ after_ms: n * every_ms, count: servers.length }));
  const { answers } = await judgedBursts(system, script, { meetsEdges: true, servers });
  const { least, most } = admittedInAll(system.algorithm, system.limits, answers.bursts);
  const slack = Math.floor(SLACK_PER_WINDOW * WINDOWS);
  return {
    seen: answers.admitted,
    least: Math.max(0, least - slack),
    most: most + slack,
    requests: answers.all.length,
    seconds: (WINDOWS * system.window_ms) / 1000,
  };
}

/** As a finding keeps it. */
export const admissionsOf = ({ seen, least, most }: Admissions): Admissions => ({ seen, least, most });
