import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { Arrivals } from "../../contract/configuration.js";
import type { RequestStream } from "../../traffic/types.js";

/** A worker's part of a schedule: of every `of` sends the one with number `index`, from 0. */
export interface ScheduleShare {
  ratePerSecond: number;
  arrivals: Arrivals;
  seed: number;
  index: number;
  of: number;
}

const TWO_TO_32 = 4_294_967_296;

/**
 * Gives the intended sends of a share one after the other, in milliseconds from the opening of the window, never
 * falling. All shares together are the same schedule however many there are: a Poisson process is drawn whole by each.
 */
export function createArrivals({ ratePerSecond, arrivals, seed, index, of }: ScheduleShare): () => number {
  if (arrivals === "constant") {
    let next = index - of;
    return () => {
      next += of;
      // Not a sum of gaps: their errors would add up.
      return (next * 1000) / ratePerSecond;
    };
  }
  // The traffic draws from the generator of the same seed: one jump, and the two have nothing in common.
  const generator = xoroshiro128plus(seed);
  generator.jump();
  let at = 0;
  const gap = () => (-Math.log1p(-(generator.next() >>> 0) / TWO_TO_32) * 1000) / ratePerSecond;
  let skip = index;
  return () => {
    for (; skip >= 0; skip--) at += gap();
    skip = of - 1;
    return at;
  };
}

/** The requests of a share: which request is sent depends on its place in the schedule, not on its worker or connection. */
export function streamOfShare(whole: RequestStream, { index, of }: ScheduleShare): RequestStream {
  let skip = index;
  return {
    next() {
      for (; skip > 0; skip--) whole.next();
      skip = of - 1;
      return whole.next();
    },
  };
}
