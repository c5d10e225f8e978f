import { readFileSync } from "node:fs";
import { z } from "zod";
import { driverLayerSchema, type Layer } from "../../contract/layers.js";
import { COPIES_COMPONENT, SYSTEMATIC_COMPONENTS } from "../../contract/statistics.js";
import type { Target } from "../../contract/target.js";
import { COPY } from "../../targets/options.js";

/**
 * The budget of what intervals do not contain (M34), for the plan. The report widens intervals by the
 * same file (`report/analysis/error_budget.py`).
 */

/** What is compared: two targets, or two builds or copies of one program. */
export const pairKinds = ["targets", "one program"] as const;
export type PairKind = (typeof pairKinds)[number];

/** The figures that conclusions are about. The budget knows no latency. */
export type ConcludedFigure = "throughput" | "p99" | "cpu";

export interface SystematicError {
  /** The root of the summed squares of the bounds that were measured, as a share. */
  share: number;
  /** The components that were not measured, with any of which no difference is never concluded. */
  unmeasured: readonly string[];
}

const budgetSchema = z.object({
  components: z.array(
    z.object({
      component: z.string(),
      layer: driverLayerSchema,
      figure: z.string(),
      pairs: z.enum(pairKinds),
      at_most: z.number().min(0),
    }),
  ),
});
export type ErrorBudget = z.infer<typeof budgetSchema>;

const BUDGET = new URL("../../../report/statistics/error_budget.json", import.meta.url);

let committed: ErrorBudget | undefined;

/** The budget that comes with this version of the report. */
export function readErrorBudget(): ErrorBudget {
  committed ??= budgetSchema.parse(JSON.parse(readFileSync(BUDGET, "utf8")));
  return committed;
}

/** The systematic error of comparisons by turns. */
export function systematicError(
  { components }: ErrorBudget,
  comparison: { layer: Layer; figure: ConcludedFigure; pairs: PairKind },
): SystematicError {
  const names = comparison.pairs === "one program" ? [COPIES_COMPONENT] : SYSTEMATIC_COMPONENTS;
  const bounds = new Map(
    components
      .filter(
        ({ layer, figure, pairs }) =>
          layer === comparison.layer && figure === comparison.figure && pairs === comparison.pairs,
      )
      .map(({ component, at_most }) => [component, at_most]),
  );
  return {
    share: Math.hypot(...names.map((name) => bounds.get(name) ?? 0)),
    unmeasured: names.filter((name) => !bounds.has(name)),
  };
}

/**
 * What two builds of one program have in common, such as versions of a client, or a target and its
 * copy. The report reads the same of results (`Identity.build_of`).
 */
function buildOf(target: Target): string {
  const { client, store, topology, limiter, limiter_version, decided_by, options } = target;
  const ignoredOptions = [COPY, ...(limiter_version === undefined ? [] : [limiter])];
  const ownOptions = options.filter((id) => !ignoredOptions.includes(id));
  return JSON.stringify([client, store, topology, limiter, decided_by, ownOptions]);
}

export const pairKind = (target: Target, other: Target): PairKind =>
  buildOf(target) === buildOf(other) ? "one program" : "targets";
