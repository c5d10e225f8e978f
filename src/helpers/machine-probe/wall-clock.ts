/** The error of the clock in the end, to either side. */
export const WALL_CLOCK_ERROR_US = 0.5;

/** How many ticks are looked at, at most. One is enough on a machine that is not busy. */
const TICKS = 200;

/** How many milliseconds the system clock is ahead of the monotonic one, at least and at most. */
type Ahead = { least: number; most: number };

/**
 * The system clock to the microsecond. JavaScript shows its milliseconds alone, so the moment at
 * which it ticks is found on the monotonic clock, which counts on from there. A tick lies between
 * the last reading before it and the first after it. In a pause of the process that is long, so
 * more ticks are looked at until their intervals together leave little.
 */
export class WallClock {
  constructor(wall = Date.now, monotonic = () => performance.now()) {
    let { least, most } = tick(wall, monotonic);
    for (let ticks = 1; ticks < TICKS && 1000 * (most - least) > 2 * WALL_CLOCK_ERROR_US; ticks++) {
      const next = tick(wall, monotonic);
      // Intervals that lie apart mean that the clock was set in between, so the old one is wrong.
      const isApart = next.least > most || next.most < least;
      least = isApart ? next.least : Math.max(least, next.least);
      most = isApart ? next.most : Math.min(most, next.most);
    }
    const ahead_ms = (least + most) / 2;
    this.now_ms = () => ahead_ms + monotonic();
  }

  /** The time in milliseconds since 1970. */
  readonly now_ms: () => number;
}

function tick(wall: () => number, monotonic: () => number): Ahead {
  let before = monotonic();
  const first = wall();
  for (;;) {
    const next = monotonic();
    const now = wall();
    if (now !== first) return { least: now - monotonic(), most: now - before };
    before = next;
  }
}
