import type { AdmissionBounds } from "../../contract/audit.js";
import type { RequestGroup } from "../../contract/sender.js";
import type { Answers, AuditedSystem, SendOptions } from "./audited-system.js";
import { admittedInAll, admittedRanges, type Range } from "./expected.js";

/** Requests on one key at once, at a time. */
export interface ScriptedBurst {
  /** Since the first burst. */
  after_ms: number;
  count: number;
}

/** What the limiter did with one burst, and what its algorithm can do. */
export type JudgedBurst = ScriptedBurst & { admitted: number; range: Range; holds: boolean };

/**
 * A burst that began late, or lasted long, may meet another window than the one it is for; so often
 * it is tried.
 */
const MOST_TRIES = 3;

/**
 * Sends bursts on a fresh key and compares what was admitted with the limiter's declared algorithm.
 * @param options `begin`: share of a window of the wall clock at which the first is sent, for
 *   limiters with such windows;
 * `meetsEdges`: bursts are meant to meet the ends of such windows, and only their sums are looked
 * at; `servers`: see `send`
 * @throws NotChecked where requests failed
 */
export async function judgedBursts(
  system: AuditedSystem,
  bursts: readonly ScriptedBurst[],
  options: { begin?: number; meetsEdges?: boolean; servers?: SendOptions["servers"] } = {},
): Promise<{ bursts: JudgedBurst[]; answers: Answers }> {
  const { begin = 0, meetsEdges = false, servers = 1 } = options;
  for (let tries = 1; ; tries++) {
    const key = system.freshKey();
    const groups = bursts.map(
      ({ after_ms, count }): RequestGroup => ({ after_ms, keys: [key], count }),
    );
    const sent = await system.send(groups, { servers, begin: system.alignedTo(begin) });
    const answers = sent.requireDecided();
    const each = bursts.map((_, index) => answers.ofGroup(index));
    const metEdge = !meetsEdges && each.some((burst) => system.metEdge(burst));
    if (metEdge && tries < MOST_TRIES) continue;
    const ranges = admittedRanges(
      system.algorithm,
      system.limits,
      each.map(({ burst }) => burst),
    );
    return {
      answers,
      bursts: bursts.map((burst, index) => {
        const range = ranges[index] as Range;
        const { admitted } = each[index] as Answers;
        return {
          ...burst,
          admitted,
          range,
          holds: admitted >= range.least && admitted <= range.most,
        };
      }),
    };
  }
}

/** `20 at 0.0 s, 0 at 1.8 s, 20 at 2.2 s`. */
export const burstsText = (
  bursts: readonly JudgedBurst[],
  textOf: (burst: JudgedBurst) => string | number,
): string =>
  bursts.map((burst) => `${textOf(burst)} at ${(burst.after_ms / 1000).toFixed(1)} s`).join(", ");

/** How long it sends, in windows: half a window more shows windows that are a bit too long. */
const WINDOWS = 4.5;
/** Offered requests, in quotas per window. */
const OFFERED = 2.5;
/** By how much a count may differ from the model for each window: sends and answers take time. */
const SLACK_PER_WINDOW = 1;

export type Steady = AdmissionBounds & { requests: number; seconds: number };

/**
 * A key that always asks for more, evenly.
 * @param servers places of those that get its requests: each time one request each
 */
export async function steady(
  system: AuditedSystem,
  servers: readonly number[] = [0],
): Promise<Steady> {
  const times = Math.ceil((WINDOWS * OFFERED * system.limits.points) / servers.length);
  const every_ms = (WINDOWS * system.window_ms) / times;
  const script = Array.from({ length: times }, (_, n) => ({
    after_ms: n * every_ms,
    count: servers.length,
  }));
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
