import type { LinkReading } from "../../contract/machine-probe.js";
import type { ClockOffset, MachineLink, PlacedKind } from "../../contract/machines.js";
import { rounded } from "../../contract/numbers.js";

export type LinkEnds = readonly [string, string];

export interface MeasuredLink {
  between: LinkEnds;
  round_trip_us: MachineLink["round_trip_us"];
  bits_per_second?: MachineLink["bits_per_second"];
  clock: ClockOffset;
}

/** The roles that talk to each other over the network: load goes from one to the next. */
const TALKING: readonly (readonly [PlacedKind, PlacedKind])[] = [
  ["generator", "server"],
  ["server", "store"],
];

/** The pairs of machines over which roles may talk to each other, each once. */
export function linksBetween(machinesFor: (kind: PlacedKind) => readonly string[]): LinkEnds[] {
  const found = new Map<string, LinkEnds>();
  for (const [one, other] of TALKING)
    for (const from of machinesFor(one))
      for (const to of machinesFor(other)) {
        const key = [from, to].toSorted().join("\n");
        if (from !== to && !found.has(key)) found.set(key, [from, to]);
      }
  return [...found.values()];
}

/** Smallest value that at least this share of them does not exceed. */
function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? 0;
}

/** Both of two measurements: what lies within both bounds. Two that contradict each other are both within the result. */
export function combinedOffset(one: ClockOffset, other: ClockOffset): ClockOffset {
  const ends = [one, other].map(({ offset_us, bound_us }) => [offset_us - bound_us, offset_us + bound_us]);
  const [lows, highs] = [ends.map(([low = 0]) => low), ends.map(([, high = 0]) => high)];
  let [low, high] = [Math.max(...lows), Math.min(...highs)];
  // A clock was set between the two, or ran away.
  if (low > high) [low, high] = [Math.min(...lows), Math.max(...highs)];
  return { offset_us: rounded((low + high) / 2, 1), bound_us: rounded((high - low) / 2 + 0.1, 1) };
}

export function linkOf(between: LinkEnds, there: LinkReading, back: LinkReading): MeasuredLink {
  const trips = [...there.round_trips_us, ...back.round_trips_us].sort((a, b) => a - b);
  const { sent_bits_per_second: sent, received_bits_per_second: received } = there;
  return {
    between,
    round_trip_us: { p50: quantile(trips, 0.5), p90: quantile(trips, 0.9), count: trips.length },
    ...(sent && received ? { bits_per_second: { there: sent, back: received } } : {}),
    clock: combinedOffset(there.clock, {
      // The second machine sees the first one's clock.
      offset_us: -back.clock.offset_us,
      bound_us: back.clock.bound_us,
    }),
  };
}
