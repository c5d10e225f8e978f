import type { ClockOffset } from "../../contract/machines.js";
import { rounded } from "../../contract/numbers.js";
import { WALL_CLOCK_ERROR_US } from "./wall-clock.js";

/** An exchange by two clocks, milliseconds: sent and answered by the own one, received and replied by the other. */
export interface Exchange {
  sent_ms: number;
  received_ms: number;
  replied_ms: number;
  answered_ms: number;
}

/** Errors add up: of both clocks, of a moment in milliseconds since 1970, twice, and of the figures themselves. */
const RESOLUTION_US = 2 * WALL_CLOCK_ERROR_US + 0.6;

/** How long an exchange was under way, without the time that the other one took. */
export const roundTripMs = ({ sent_ms, received_ms, replied_ms, answered_ms }: Exchange): number =>
  answered_ms - sent_ms - (replied_ms - received_ms);

/**
 * As NTP finds it (RFC 5905, section 8): half of the shortest round trip bounds the error.
 * @param exchanges at least one
 */
export function clockOffsetOf(exchanges: readonly Exchange[]): ClockOffset {
  const [first, ...others] = exchanges;
  if (!first) throw new Error("there is no exchange");
  const best = others.reduce((a, b) => (roundTripMs(b) < roundTripMs(a) ? b : a), first);
  const { sent_ms, received_ms, replied_ms, answered_ms } = best;
  const offset_ms = (received_ms - sent_ms + (replied_ms - answered_ms)) / 2;
  return {
    offset_us: rounded(1000 * offset_ms, 1),
    bound_us: rounded(500 * Math.max(0, roundTripMs(best)) + RESOLUTION_US, 1),
  };
}
