import type { ScheduleShare } from "./schedule.js";

/** Slots of the memory that a worker and its ticker share. */
export const REACHED = 0;
export const STARVED = 1;
export const WOKEN = 2;
/** Never written: the ticker sleeps by waiting for a change of this slot, or for a notification. */
export const SLEEP = 3;
/** When the worker last sent all that was due: microseconds, modulo 2^32. */
export const SENT_UNTIL = 4;
/** Number of the current run of a schedule: the ticker abandons the one before it. */
export const SCHEDULE_RUN = 5;
export const SLOTS = 6;

export const wrappedUs = (ms: number): number => Math.round(ms * 1000) | 0;

/** Time since `wrapped_us`, modulo 71 minutes. */
export const msSince = (wrapped_us: number, now_ms: number): number =>
  ((wrappedUs(now_ms) - wrapped_us) >>> 0) / 1000;

/** The sends for which the ticker wakes its worker. Times are monotonic milliseconds. */
export interface TickerSchedule {
  scheduleRun: number;
  share: ScheduleShare;
  opens_ms: number;
  closes_ms: number;
  /** Whether sends that fall due within half a millisecond share a wake. */
  sharesWakes: boolean;
}
