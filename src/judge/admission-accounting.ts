import type { Admissions } from "../contract/admissions.js";
import { definedOnly } from "../kit/defined-only.js";
import { sum } from "../kit/numbers.js";

/** The points of a key: at least and at most as many were consumed, and so many are counted. */
type KeyCount = { key: string; least: number; most: number; counted: number };

const deviation = ({ least, most, counted }: KeyCount): number =>
  counted < least ? least - counted : Math.max(0, counted - most);

/** Compares what the store counted for each key with the points that were consumed. */
export function admissionsOf(counts: readonly KeyCount[]): Admissions {
  const deviating = counts.filter((count) => deviation(count) > 0);
  const [worst] = deviating.toSorted((a, b) => deviation(b) - deviation(a));
  return definedOnly({
    status: "counted" as const,
    keys: counts.length,
    points: {
      least: sum(counts.map(({ least }) => least)),
      most: sum(counts.map(({ most }) => most)),
      counted: sum(counts.map(({ counted }) => counted)),
    },
    below: deviating.filter(({ counted, least }) => counted < least).length,
    above: deviating.filter(({ counted, most }) => counted > most).length,
    worst,
  });
}
