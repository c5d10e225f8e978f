import { type Check, outcomeOf, rangeText } from "../check.js";
import { admittedInAll } from "../expected.js";
import { judgedBursts } from "../scripted.js";

/** How long it sends, in windows: half a window more shows windows that are a bit too long. */
const WINDOWS = 4.5;
/** Offered requests, in quotas per window. */
const OFFERED = 2.5;
/** By how much a count may differ from the model for each window: sends and answers take time. */
const SLACK_PER_WINDOW = 1;

export const longRunRate: Check = {
  id: "long-run-rate",
  title: "Long-run rate",
  beside: true,
  promise: "A key that always asks for more gets its quota in every window, no more and no less.",
  matters: "It is the rate that a price list names. What is rounded in each window adds up over hours.",
  async run(system) {
    const { points } = system.limits;
    const requests = WINDOWS * OFFERED * points;
    const every_ms = (WINDOWS * system.window_ms) / requests;
    const script = Array.from({ length: requests }, (_, n) => ({ after_ms: n * every_ms, count: 1 }));
    const { answers } = await judgedBursts(system, script, { meetsEdges: true });
    const { admitted } = answers;
    const { least, most } = admittedInAll(system.algorithm, system.limits, answers.bursts);
    const slack = Math.floor(SLACK_PER_WINDOW * WINDOWS);
    const range = { least: least - slack, most: most + slack };
    const seconds = (WINDOWS * system.window_ms) / 1000;
    return outcomeOf(
      admitted >= range.least && admitted <= range.most,
      `${rangeText(range)} of ${requests} in ${seconds} s`,
      `${admitted}`,
    );
  },
};
