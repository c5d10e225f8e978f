import { type Check, outcomeOf, skipped } from "../check.js";

/**
 * How long the key is tried, in limiter windows. The first request may repair the key, which then
 * lasts for one more.
 */
const WINDOWS = 3;

/** The time between tries, in limiter windows. */
const INTERVAL = 0.25;
const LONGER_MS = 500;

export const endlessKey: Check = {
  id: "key-without-end",
  title: "Key without an end",
  promise: "A key that lost its end is repaired: it is admitted again when its window has passed.",
  matters:
    "A crash between two commands, or a failover, leaves such keys. Without repair that user is denied for ever.",
  unpromisedReason: () => "no limiter promises to repair keys that others have changed",
  async run(system) {
    const key = system.freshKey();
    const { points } = system.limits;
    if ((await system.store.perform(["stored-keys"]))?.stored === undefined)
      return skipped("its store does not list keys");

    (await system.oneByOne([key], points + 1)).requireDecided();
    const persisted = (await system.store.perform(["persist-keys"]))?.persisted ?? 0;
    if (persisted === 0) return skipped("its keys had ended before they could lose their end");

    const every_ms = INTERVAL * system.window_ms;
    const moments = Array.from(
      { length: Math.ceil((WINDOWS * system.window_ms + LONGER_MS) / every_ms) },
      (_, n) => (n + 1) * every_ms,
    );
    const answers = await system.send(
      moments.map((after_ms) => ({ after_ms, keys: [key], count: 1 })),
    );
    const [first] = answers.requireDecided().all;
    const readmission = answers.all.find(({ status }) => status === 200);
    const stored = (await system.store.perform(["stored-keys"]))?.stored;
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    return outcomeOf(
      readmission !== undefined,
      `admitted again within ${WINDOWS} windows`,
      readmission
        ? `admitted again after ${seconds(readmission.sent_ms - (first?.sent_ms ?? 0) + every_ms)}`
        : `denied for ${seconds(moments.at(-1) ?? 0)}, ${stored?.without_end ?? 0} keys without an end`,
      readmission && stored && stored.without_end > 0
        ? [`${stored.without_end} keys without an end stay in the store`]
        : [],
    );
  },
};
