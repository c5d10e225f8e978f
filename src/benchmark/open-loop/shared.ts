import type { ScheduleShare } from "./schedule.js";

/** Places in the memory that a worker and its ticker share. */
export const REACHED = 0;
export const STARVED = 1;
export const WOKEN = 2;
/** Nobody writes here: the ticker sleeps by waiting for it. */
export const NEVER = 3;
export const PLACES = 4;

/** What the ticker is told: which sends to wake its worker for. Times are monotonic milliseconds. */
export interface Watch {
  share: ScheduleShare;
  opens_ms: number;
  closes_ms: number;
}
