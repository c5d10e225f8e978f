import { findStore } from "../../../targets/resolve.js";
import { admissionsOutcome, type Check, rangeText } from "../check.js";
import { type Steady, steady } from "../scripted.js";

/** How far the clock of each server is ahead of the machine's, which the first server has. */
const AHEAD_MS = [0, 500, 2_000, 30_000];
const SERVERS = AHEAD_MS.map((clock_shift_ms) => ({ clock_shift_ms }));

/**
 * The outcome of a check with two clocks.
 * @param apart the admissions of a load on servers whose clocks differ
 * @param together the admissions of the same load on one server with a right clock
 */
export function clocksOutcome(apart: Steady, together: Steady) {
  const { requests, seconds } = apart;
  // A limiter that is wrong in the long run is also wrong with one clock.
  const isOff = together.seen < together.least || together.seen > together.most;
  const texts = {
    promised: ` of ${requests} in ${seconds} s`,
    ifOff: isOff ? ", with one clock too" : "",
  };
  const note = `with one clock: ${together.seen} of ${rangeText(together)}`;
  return admissionsOutcome(apart, texts, [note]);
}

const checkOf = (place: number, id: string): Check => ({
  id,
  title: `Clocks ${(AHEAD_MS[place] ?? 0) / 1000} s apart`,
  unpromisedReason: () => "no limiter promises anything for machines whose clocks differ",
  isConcurrent: true,
  servers: SERVERS,
  promise: `Two servers whose clocks are ${(AHEAD_MS[place] ?? 0) / 1000} s apart admit a key's quota in every window.`,
  matters:
    "Clocks of machines differ, and one that is set while it runs jumps. A limiter that takes the time from its server counts in two windows, or never sees the end of one.",
  unsupportedReason: ({ store }) =>
    findStore(store).engine === undefined
      ? "its counters stay in the process of their server: two clocks never meet"
      : undefined,
  async run(system) {
    const [apart, together] = await Promise.all([steady(system, [0, place]), steady(system)]);
    return clocksOutcome(apart, together);
  },
});

/** Checks with clocks apart. A limiter that uses the clock of a store or a service keeps them. */
export const clocksApart: readonly Check[] = [
  checkOf(1, "clocks-500-ms"),
  checkOf(2, "clocks-2-s"),
  checkOf(3, "clocks-30-s"),
];
