import type { ScheduleShare } from "./schedule.js";

/** Places in the memory that a worker and its ticker share. */
export const REACHED = 0;
export const STARVED = 1;
export const WOKEN = 2;
/** Nobody writes here: the ticker sleeps by waiting for it. */
export const NEVER = 3;
/** When the worker last sent all that was due: microseconds, as far as 32 bits go. */
export const PUMPED = 4;
/** Which passage is under way: the ticker leaves the one before it. */
export const PASSAGE = 5;
export const PLACES = 6;

export const wrappedUs = (ms: number): number => Math.round(ms * 1000) | 0;

/** How long ago `wrapped_us` was, less 71 minutes as often as they fit. */
export const msSince = (wrapped_us: number, now_ms: number): number =>
  ((wrappedUs(now_ms) - wrapped_us) >>> 0) / 1000;

/** What the ticker is told: which sends to wake its worker for. Times are monotonic milliseconds. */
export interface Watch {
  passage: number;
  share: ScheduleShare;
  opens_ms: number;
  closes_ms: number;
}
