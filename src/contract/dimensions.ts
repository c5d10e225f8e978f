import { z } from "zod";
import type { Layer } from "./layers.js";

/**
 * A whole number by which configurations differ, beside target, workload, traffic and load. Flags, variables, campaign
 * files, the menu, plans, file names, texts and the columns of the report follow this list. To add one, add an entry here
 * and read it where it takes effect, e.g. in the layout.
 */
interface Dimension {
  /** Member of a configuration, flag (`--servers`) and, in capitals, variable of single runs. */
  key: string;
  /** What it counts. */
  one: string;
  other: string;
  max: number;
  /** At the other layers it is 0. */
  layer: Layer;
  /** One line for `--help`. */
  help: string;
  /** Its question in the menu. */
  question: string;
}

/** The usual number of everything that a dimension counts: texts and file names do not mention it. */
export const USUAL = 1;

export const dimensions = [
  {
    key: "servers",
    one: "server",
    other: "servers",
    max: 16,
    layer: "server",
    help: "servers on one store, 1 to 16; connections are spread evenly",
    question: "How many servers on one store",
  },
] as const satisfies readonly Dimension[];

export type DimensionKey = (typeof dimensions)[number]["key"];
/** One number for each dimension. */
export type DimensionCounts = Record<DimensionKey, number>;

/** A value for each dimension. */
export const byDimension = <Value>(
  valueFor: (dimension: (typeof dimensions)[number]) => Value,
): Record<DimensionKey, Value> =>
  Object.fromEntries(dimensions.map((dimension) => [dimension.key, valueFor(dimension)])) as Record<
    DimensionKey,
    Value
  >;

/** The members of a configuration. */
export const dimensionShape = byDimension(({ max }) => z.int().min(0).max(max));

/** `2 servers` for each dimension that is not the usual one. */
export const unusualCounts = (counts: DimensionCounts): string[] =>
  dimensions.flatMap(({ key, other }) => (counts[key] > USUAL ? [`${counts[key]} ${other}`] : []));
