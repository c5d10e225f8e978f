import type { Answers } from "../answers.js";
import type { AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf } from "../check.js";
import { admittedRanges } from "../expected.js";

/** Where a window of the wall clock is when the script begins, so that all of it lies in one. */
const BEGIN = 0.05;
const MOST_TRIES = 3;

interface Tried {
  /** A used-up key. */
  usedUp: Answers;
  /** Requests with that key and another one. */
  both: Answers;
  /** The other key alone. */
  other: Answers;
  /** Requests with two fresh keys. */
  fresh: Answers;
}

async function tryKeys(system: AuditedSystem): Promise<Tried> {
  const { points } = system.limits;
  for (let tries = 1; ; tries++) {
    const [a, b, c, d] = [system.freshKey(), system.freshKey(), system.freshKey(), system.freshKey()];
    const begin = system.alignedTo(BEGIN);
    const send = async (keys: string[], count: number, first = false): Promise<Answers> => {
      const answers = await system.send([{ after_ms: 0, keys, count }], first && begin ? { begin } : {});
      return answers.requireDecided();
    };
    const usedUp = await send([a], 2 * points, true);
    const both = await send([a, b], points);
    const other = await send([b], 2 * points);
    const fresh = await send([c, d], 2 * points);
    const whole = usedUp.with(fresh);
    const { from_ms, to_ms } = whole.burst;
    // A quota that came back in the meantime would be taken for one that was not used.
    const isLong = to_ms - from_ms > system.window_ms / 2;
    if (tries >= MOST_TRIES || !(isLong || system.metEdge(whole))) return { usedUp, both, other, fresh };
  }
}

/**
 * Promised: a request that names two keys, e.g. a user and a route, is admitted only when both have points left. It
 * matters because each key stands for a promise of its own. Whether a denied request uses points of the key that would
 * have admitted it is told, too: libraries differ, and a user may pay for requests that another limit denied.
 */
export const severalDescriptors: Check = {
  id: "several-descriptors",
  title: "Several descriptors",
  promise: "A request with two keys is admitted only when both have points left.",
  matters:
    "Each key stands for a promise of its own, e.g. a user and a route. Whether denied requests use points of the other key is told as a note.",
  async run(system) {
    const { limits, algorithm } = system;
    const { points } = limits;
    const { usedUp, both, other, fresh } = await tryKeys(system);
    const ranges = admittedRanges(algorithm, limits, [usedUp.burst, both.burst]);
    const mostOfBoth = ranges[1]?.most ?? 0;
    const mostOfFresh = admittedRanges(algorithm, limits, [fresh.burst])[0]?.most ?? points;
    const used = Math.max(0, points - other.admitted - both.admitted);
    const note =
      used > 0
        ? `${points - both.admitted} denied requests used ${used} of the ${points} points of the other key`
        : "denied requests used no points of the other key";
    return outcomeOf(
      both.admitted <= mostOfBoth && fresh.admitted <= mostOfFresh,
      `with a used-up key at most ${mostOfBoth} of ${points}, with two fresh keys at most ${mostOfFresh} of ${2 * points}`,
      `${both.admitted}, ${fresh.admitted}`,
      [note],
    );
  },
};
