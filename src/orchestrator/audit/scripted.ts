import type { AdmissionBounds } from "../../contract/audit.js";
import type { RequestGroup } from "../../contract/sender.js";
import type { Answers, AuditedSystem, SendOptions } from "./audited-system.js";
import { admittedInAll, admittedRanges, type Range } from "./expected.js";

/** Requests on one key that are sent at once. */
export interface ScriptedBurst {
  /** The time since the first burst. */
  after_ms: number;
  count: number;
}

/** A burst with the number of admitted requests, and the range that the algorithm allows. */
export type JudgedBurst = ScriptedBurst & { admitted: number; range: Range; holds: boolean };

/** The most tries. A burst that began late or lasted long may meet another window than planned. */
const MOST_TRIES = 3;

interface ScriptOptions {
  /**
   * The share of a window of the wall clock at which the first burst is sent, for limiters with such
   * windows.
   */
  begin?: number;
  /** Whether bursts should meet the ends of such windows, because only their sums count. */
  meetsEdges?: boolean;
  /** The servers that get the requests, as in `send`. */
  servers?: SendOptions["servers"];
}

/**
 * Sends bursts on a fresh key, and compares the admissions with the limiter's declared algorithm.
 * @throws NotChecked where requests failed
 */
export async function judgedBursts(
  system: AuditedSystem,
  bursts: readonly ScriptedBurst[],
  options: ScriptOptions = {},
): Promise<{ bursts: JudgedBurst[]; answers: Answers }> {
  const { begin = 0, meetsEdges = false, servers = 1 } = options;
  for (let tries = 1; ; tries++) {
    const key = system.freshKey();
    const groups = bursts.map(
      ({ after_ms, count }): RequestGroup => ({ after_ms, keys: [key], count }),
    );
    const sent = await system.send(groups, { servers, begin: system.alignedTo(begin) });
    const answers = sent.requireDecided();
    const answersByBurst = bursts.map((_, index) => answers.ofGroup(index));
    const metEdge = !meetsEdges && answersByBurst.some((burst) => system.metEdge(burst));
    if (metEdge && tries < MOST_TRIES) continue;

    const ranges = admittedRanges(
      system.algorithm,
      system.limits,
      answersByBurst.map(({ burst }) => burst),
    );
    return {
      answers,
      bursts: bursts.map((burst, index) => {
        const range = ranges[index] as Range;
        const { admitted } = answersByBurst[index] as Answers;
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

/** Bursts as `20 at 0.0 s, 0 at 1.8 s, 20 at 2.2 s`. */
export const burstsText = (
  bursts: readonly JudgedBurst[],
  textOf: (burst: JudgedBurst) => string | number,
): string =>
  bursts.map((burst) => `${textOf(burst)} at ${(burst.after_ms / 1000).toFixed(1)} s`).join(", ");

/** The length of a steady load in windows. Half a window shows windows that are a bit too long. */
const WINDOWS = 4.5;

/** The offered requests, in quotas per window. */
const OFFERED = 2.5;

/** By how much a count may differ from the model in each window, because sends take time. */
const SLACK_PER_WINDOW = 1;

export type Steady = AdmissionBounds & { requests: number; seconds: number };

/**
 * Sends a load on one key that evenly asks for more than its quota.
 * @param servers the places of the servers, of which each gets one request at a time
 */
export async function steady(
  system: AuditedSystem,
  servers: readonly number[] = [0],
): Promise<Steady> {
  const times = Math.ceil((WINDOWS * OFFERED * system.limits.points) / servers.length);
  const every_ms = (WINDOWS * system.window_ms) / times;
  const script = Array.from({ length: times }, (_, index) => ({
    after_ms: index * every_ms,
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
