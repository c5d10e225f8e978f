import { z } from "zod";
import type { Layer } from "./layers.js";

/**
 * A property in which configurations differ besides target, workload, traffic and load. Flags,
 * files, menu, plans and reports follow this list. To add one, add an entry here and read it where
 * it takes effect, e.g. in the layout.
 */
interface Dimension {
  /** Member of a configuration, flag (`--servers`) and, in capitals, variable of single runs. */
  key: string;
  one: string;
  other: string;
  max: number;
  /** The layers at which it counts. At the other ones it is 0, or absent. */
  layers: readonly Layer[];
  /**
   * Whether a configuration names it only where it is not the default, so that older configurations
   * keep their identity.
   */
  namedUnlessDefault?: true;
  /** Whether a campaign can find the number before its first run (`auto`). */
  canBeFound?: true;
  /** The word between what is sent and the number, as in `light on 2 servers`. */
  preposition: string;
  help: string;
  question: string;
}

/**
 * The default number of everything that a dimension counts. Texts and file names do not mention it.
 */
export const DEFAULT_COUNT = 1;

export const dimensions = [
  {
    key: "servers",
    one: "server",
    other: "servers",
    max: 16,
    layers: ["server"],
    preposition: "on",
    help: "servers on one store; connections are spread evenly",
    question: "How many servers on one store",
  },
  {
    key: "generators",
    one: "generator",
    other: "generators",
    max: 32,
    layers: ["server", "limiter"],
    namedUnlessDefault: true,
    canBeFound: true,
    preposition: "by",
    help: "load generators of one load; auto: as many as the loads take",
    question: "How many load generators of one load",
  },
] as const satisfies readonly Dimension[];

export type DimensionKey = (typeof dimensions)[number]["key"];
export type DimensionCounts = Record<DimensionKey, number>;

export const byDimension = <Value>(
  valueFor: (dimension: (typeof dimensions)[number]) => Value,
): Record<DimensionKey, Value> =>
  Object.fromEntries(dimensions.map((dimension) => [dimension.key, valueFor(dimension)])) as Record<
    DimensionKey,
    Value
  >;

type Entry = (typeof dimensions)[number];
type CountShape = {
  [Each in Entry as Each["key"]]: Each extends { namedUnlessDefault: true }
    ? z.ZodOptional<z.ZodInt>
    : z.ZodInt;
};

export const dimensionShape = byDimension((dimension) =>
  "namedUnlessDefault" in dimension
    ? z
        .int()
        .min(DEFAULT_COUNT + 1)
        .max(dimension.max)
        .optional()
    : z.int().min(0).max(dimension.max),
) as CountShape;

/** The members of a configuration that hold its numbers. */
export type NamedCounts = z.infer<z.ZodObject<CountShape>>;

export const namedCounts = (counts: DimensionCounts): NamedCounts =>
  Object.fromEntries(
    dimensions.flatMap((dimension) =>
      "namedUnlessDefault" in dimension && counts[dimension.key] <= DEFAULT_COUNT
        ? []
        : [[dimension.key, counts[dimension.key]]],
    ),
  ) as NamedCounts;

export const countIn = (configuration: NamedCounts, key: DimensionKey): number =>
  configuration[key] ?? DEFAULT_COUNT;

/** Texts such as `on 2 servers`, for each dimension that is not the default. */
export const countTexts = (counts: NamedCounts): string[] =>
  dimensions.flatMap(({ key, other, preposition }) =>
    countIn(counts, key) > DEFAULT_COUNT ? [`${preposition} ${countIn(counts, key)} ${other}`] : [],
  );
