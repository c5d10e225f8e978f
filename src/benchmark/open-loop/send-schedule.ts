import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { Load } from "../../contract/configuration.js";
import { traceTimes } from "../../traffic/trace.js";
import type { RequestStream, Trace } from "../../traffic/traffic-types.js";

export type OpenLoad = Extract<Load, { model: "open" }>;

export interface ScheduleShare extends Pick<OpenLoad, "rate_per_second" | "arrivals"> {
  seed: number;
  index: number;
  of: number;
  times_ms?: Trace["times_ms"];
}

const TWO_TO_32 = 4_294_967_296;

/**
 * The times of the intended sends of a share. Each worker draws the whole process, so the
 * number of workers changes nothing.
 */
export function createArrivals(share: ScheduleShare): () => number {
  const { rate_per_second, arrivals, seed, index, of, times_ms } = share;
  if (arrivals === "trace") {
    if (!times_ms) throw new Error("the arrivals are those of a trace, and the traffic has none");
    const timeOf = traceTimes(times_ms, rate_per_second);
    let next = index - of;
    return () => {
      next += of;
      return timeOf(next);
    };
  }
  if (arrivals === "constant") {
    let next = index - of;
    return () => {
      next += of;
      // A sum of gaps would add up their rounding errors.
      return (next * 1000) / rate_per_second;
    };
  }

  // The traffic draws from a generator of the same seed: after one jump the two sequences do not
  // overlap.
  const generator = xoroshiro128plus(seed);
  generator.jump();
  let at = 0;
  const gap = () => (-Math.log1p(-(generator.next() >>> 0) / TWO_TO_32) * 1000) / rate_per_second;
  let skip = index;

  return () => {
    for (; skip >= 0; skip--) at += gap();
    skip = of - 1;
    return at;
  };
}

/**
 * The requests of a share. The position in the schedule decides which request is sent, not
 * the worker or connection.
 */
export function streamOfShare(whole: RequestStream, { index, of }: ScheduleShare): RequestStream {
  let skip = index;
  return {
    restart() {
      whole.restart?.();
      skip = index;
    },
    next() {
      for (; skip > 0; skip--) whole.next();
      skip = of - 1;
      return whole.next();
    },
  };
}
