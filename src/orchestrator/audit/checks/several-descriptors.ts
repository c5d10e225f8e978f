import type { Answers, AuditedSystem } from "../audited-system.js";
import { type Check, outcomeOf } from "../check.js";
import { admittedInAll } from "../expected.js";

/** The share of a window of the wall clock that has passed at the start, so that one window is met. */
const BEGIN = 0.05;
const MOST_TRIES = 3;

/** The number of requests beyond the quota. */
const BEYOND_QUOTA = 4;

interface AnswersOfKeys {
  /** The answers on a key until it is used up. */
  usedUp: Answers;
  /** The answers to requests with the used-up key and another one. */
  both: Answers;
  /** The answers to requests with only the other key. */
  other: Answers;
  /** The answers to requests with two fresh keys. */
  fresh: Answers;
}

async function tryKeys(system: AuditedSystem): Promise<AnswersOfKeys> {
  const { points } = system.limits;
  for (let tries = 1; ; tries++) {
    const [a, b, c, d] = [
      system.freshKey(),
      system.freshKey(),
      system.freshKey(),
      system.freshKey(),
    ];
    const send = async (
      keys: string[],
      count: number,
      begin?: ReturnType<AuditedSystem["alignedTo"]>,
    ) => (await system.oneByOne(keys, count, begin)).requireDecided();
    const usedUp = await send([a], points + BEYOND_QUOTA, system.alignedTo(BEGIN));
    const both = await send([a, b], points / 2);
    const other = await send([b], points + BEYOND_QUOTA);
    const fresh = await send([c, d], points + BEYOND_QUOTA);
    const whole = usedUp.with(fresh);
    const { from_ms, to_ms } = whole.burst;
    // A quota that came back in the meantime would be taken for one that was not used.
    const isLong = to_ms - from_ms > 0.8 * system.window_ms;
    if (tries >= MOST_TRIES || !(isLong || system.metEdge(whole)))
      return { usedUp, both, other, fresh };
  }
}

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
    // Both together are requests on the first key.
    const mostOfFirst = admittedInAll(algorithm, limits, usedUp.with(both).bursts).most;
    const mostOfBoth = Math.max(0, mostOfFirst - usedUp.admitted);
    const mostOfFresh = admittedInAll(algorithm, limits, fresh.bursts).most;
    const used = Math.max(0, points - other.admitted - both.admitted);
    const denied = both.limited.length;
    const note =
      used > denied / 2
        ? `${denied} denied requests used ${used} of the ${points} points of the other key`
        : "denied requests used no points of the other key";
    return outcomeOf(
      both.admitted <= mostOfBoth && fresh.admitted <= mostOfFresh,
      `with a used-up key at most ${mostOfBoth} of ${both.all.length}, with two fresh keys at most ${mostOfFresh} of ${fresh.all.length}`,
      `${both.admitted}, ${fresh.admitted}`,
      [note],
    );
  },
};
