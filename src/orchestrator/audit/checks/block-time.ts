import { type Check, outcomeOf, rangeText } from "../check.js";
import { burstsText, judgedBursts } from "../scripted.js";

/** The distance of a burst from the ends of the window and of the block. */
const MARGIN_MS = 300;

export const blockTime: Check = {
  id: "block-time",
  title: "Block time",
  promise: "A key that exceeds its quota is denied for the block's time, no shorter and no longer.",
  matters: "A block that denied requests prolong never ends for a client that retries.",
  limits: "block",
  async run(system) {
    const { points, block_s } = system.limits;
    const block_ms = 1000 * block_s;
    const moments = [0, system.window_ms + MARGIN_MS, block_ms - MARGIN_MS, block_ms + MARGIN_MS];
    const script = moments.map((after_ms) => ({ after_ms, count: 2 * points }));
    const { bursts } = await judgedBursts(system, script);
    const outcome = outcomeOf(
      bursts.every(({ holds }) => holds),
      `admitted ${burstsText(bursts, ({ range }) => rangeText(range))}`,
      burstsText(bursts, ({ admitted }) => admitted),
    );
    return { ...outcome, countsBursts: true };
  },
};
