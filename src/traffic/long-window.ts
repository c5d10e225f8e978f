import { AUTO_WARMUP, type Extent, LEAD_IN_S, type Limits } from "../contract/configuration.js";
import { GENEROUS } from "./population.js";

/**
 * Windows that every system has, in seconds. None ends in a round by turns, in which a target waits
 * while others are warmed up and measured (M27).
 */
const WINDOWS_S = [3600, 86_400];

/** Requests a second that a run by number of requests reaches at least. */
const SLOWEST_RATE = 1000;

/** The windows that outlast a run of this extent, shortest first. */
function longWindowsS(extent: Extent): number[] {
  const window_s = "requests" in extent ? extent.requests / SLOWEST_RATE : extent.duration_s;
  const twice_s = 2 * (AUTO_WARMUP.max_s + LEAD_IN_S + window_s);
  return WINDOWS_S.filter((candidate) => candidate > twice_s);
}

/**
 * Whether a window is one that a quota which no run can use up gets. Where a store counts the requests
 * of several runs, it is longer than one of them needs.
 */
export const isLongWindow = ({ points, window_s }: Limits, extent: Extent): boolean =>
  points >= GENEROUS.points && longWindowsS(extent).includes(window_s);

/**
 * A quota that no run can use up gets a window longer than twice the run, so that no key's count
 * ends in it (M27).
 */
export function withLongWindow(limits: Limits, extent: Extent): Limits {
  if (limits.points < GENEROUS.points) return limits;
  const [shortest_s = limits.window_s] = longWindowsS(extent);
  return { ...limits, window_s: shortest_s };
}
