import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import type { Limits } from "../contract/configuration.js";
import type { Descriptors, RequestStream, TrafficProfile } from "./traffic-types.js";

const TWO_TO_32 = 4_294_967_296;

/**
 * Draws indexes with chosen shares in constant time, by Walker's alias method (Vose, IEEE TSE
 * 17(9), 1991).
 */
export class AliasTable {
  readonly #threshold: Float64Array;
  readonly #alias: Uint32Array;

  constructor(shares: Float64Array) {
    const size = shares.length;
    this.#threshold = new Float64Array(size).fill(1);
    this.#alias = Uint32Array.from({ length: size }, (_, index) => index);
    const scaled = shares.map((share) => share * size);
    const small: number[] = [];
    const large: number[] = [];
    scaled.forEach((share, index) => void (share < 1 ? small : large).push(index));

    for (
      let low = small.pop(), high = large.pop();
      low !== undefined && high !== undefined;
      low = small.pop()
    ) {
      this.#threshold[low] = scaled[low] ?? 1;
      this.#alias[low] = high;
      scaled[high] = (scaled[high] ?? 0) + (scaled[low] ?? 0) - 1;
      if ((scaled[high] ?? 0) < 1) {
        small.push(high);
        high = large.pop();
      }
    }
  }

  /** @param column uniform in [0, 1) @param toss uniform in [0, 1) */
  pick(column: number, toss: number): number {
    const index = Math.floor(column * this.#threshold.length);
    return toss < (this.#threshold[index] ?? 1) ? index : (this.#alias[index] ?? index);
  }
}

/**
 * Creates the streams of random requests. All connections draw from one generator, each 2^64 steps
 * after the one before, so that their sequences do not overlap, however they are spread over
 * workers.
 */
export function createStreams(
  table: AliasTable,
  seed: number,
  first: number,
  count: number,
): RequestStream[] {
  const origin = xoroshiro128plus(seed);
  for (let jump = 0; jump < first; jump++) origin.jump();
  return Array.from({ length: count }, () => {
    const generator = origin.clone();
    origin.jump();
    const uniform = () => (generator.next() >>> 0) / TWO_TO_32;
    return { next: () => table.pick(uniform(), uniform()) };
  });
}

interface ConnectionRange {
  /** Number of connections of the whole run. */
  connections: number;
  /** The first connection of the range, from 0, and how many it has. */
  first: number;
  count: number;
}

/**
 * Creates streams of requests that go through the population in order, from evenly spread starting
 * points.
 */
function createSequentialStreams(size: number, range: ConnectionRange): RequestStream[] {
  const { connections, first, count } = range;
  return Array.from({ length: count }, (_, index) => {
    const begins = Math.floor(((first + index) * size) / connections) - 1;
    let position = begins;
    return {
      restart: () => {
        position = begins;
      },
      next: () => {
        position = (position + 1) % size;
        return position;
      },
    };
  });
}

/** Creates streams that repeat a cycle. Their starting points are spread evenly over it. */
function createCyclicStreams(
  cycle: Uint16Array | Uint32Array,
  range: ConnectionRange,
): RequestStream[] {
  return createSequentialStreams(cycle.length, range).map((positions) => ({
    ...positions,
    next: () => cycle[positions.next()] ?? 0,
  }));
}

/**
 * Returns the distinct requests of a profile, and one stream of indexes into them per connection.
 */
export function openTraffic(
  profile: TrafficProfile,
  seed: number,
  range: ConnectionRange,
  { points, cost = 1 }: Limits = profile.limits,
): { requests: readonly Descriptors[]; streams: RequestStream[] } {
  const { requests, shares } = profile.population();
  if (profile.trace) return { requests, streams: createCyclicStreams(profile.trace.keys, range) };
  if (profile.binding) {
    const cycle = profile.binding.cycleOf(Math.floor(points / cost), seed);
    return { requests, streams: createCyclicStreams(cycle, range) };
  }
  const streams =
    profile.order === "sequential"
      ? createSequentialStreams(requests.length, range)
      : createStreams(new AliasTable(shares), seed, range.first, range.count);
  return { requests, streams };
}
