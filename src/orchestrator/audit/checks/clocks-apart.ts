import { findStore } from "../../../targets/resolve.js";
import { admissionsOutcome, type Check, rangeText } from "../check.js";
import { type Steady, steady } from "../scripted.js";

/** How far the clock of each server is ahead: the first has the machine's. */
const AHEAD_MS = [0, 500, 2_000, 30_000];
const SERVERS = AHEAD_MS.map((clock_shift_ms) => ({ clock_shift_ms }));

/**
 * @param alone what the same load was admitted where one server with a right clock got all of it
 */
export function clocksOutcome(apart: Steady, alone: Steady) {
  const { requests, seconds } = apart;
  // A limiter that is wrong in the long run is so without the clocks' help.
  const isOff = alone.seen < alone.least || alone.seen > alone.most;
  const texts = {
    promised: ` of ${requests} in ${seconds} s`,
    ifOff: isOff ? ", with one clock too" : "",
  };
  return admissionsOutcome(apart, texts, [`with one clock: ${alone.seen} of ${rangeText(alone)}`]);
}

const checkOf = (place: number, id: string): Check => ({
  id,
  title: `Clocks ${(AHEAD_MS[place] ?? 0) / 1000} s apart`,
  unpromisedReason: () => "no limiter promises anything for machines whose clocks differ",
  beside: true,
  servers: SERVERS,
  promise: `Two servers whose clocks are ${(AHEAD_MS[place] ?? 0) / 1000} s apart admit a key's quota in every window.`,
  matters:
    "Clocks of machines differ, and one that is set while it runs jumps. A limiter that takes the time from its server counts in two windows, or never sees the end of one.",
  unsupportedReason: ({ store }) =>
    findStore(store).engine === undefined
      ? "its counters stay in the process of their server: two clocks never meet"
      : undefined,
  async run(system) {
    const [apart, alone] = await Promise.all([steady(system, [0, place]), steady(system)]);
    return clocksOutcome(apart, alone);
  },
});

/** What is decided by a clock of the store, or a service, cannot break it. */
export const clocksApart: readonly Check[] = [
  checkOf(1, "clocks-500-ms"),
  checkOf(2, "clocks-2-s"),
  checkOf(3, "clocks-30-s"),
];
