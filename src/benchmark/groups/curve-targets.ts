import { canonicalJson } from "../../contract/configuration.js";
import type { GeneratorGroup, GeneratorRunSpec } from "../../contract/generator-env.js";
import { usageError } from "../../kit/errors.js";
import { grouped } from "../../kit/grouped.js";
import { findProfile } from "../../traffic/lookup.js";
import type { RunsOf } from "../workers/protocol.js";

/** A run of a load curve, with its place in the group and among the runs of its target. */
export interface PlacedRun {
  spec: GeneratorRunSpec;
  index: number;
  target: number;
  place: number;
}

/**
 * The runs of a load curve by target. Runs with equal servers are of one target, and so are all runs
 * where each target has a generator of its own.
 * @throws usageError for runs that cannot share their connections
 */
export function curveTargets({ runs, turns }: GeneratorGroup): RunsOf<RunsOf<PlacedRun>> {
  const indexed = runs.map((spec, index) => ({ spec, index }));
  const byTarget = turns.given
    ? [indexed]
    : grouped(indexed, ({ spec }) => canonicalJson(spec.generator.servers));
  const targets = byTarget.map((members, target) =>
    nonEmpty(members.map((run, place) => ({ ...run, target, place }))),
  );
  for (const target of targets) refuseUnlike(target.map(({ spec }) => spec.generator));
  return nonEmpty(targets);
}

function nonEmpty<Item>([first, ...others]: readonly Item[]): RunsOf<Item> {
  if (first === undefined) throw new Error("a load curve has no runs");
  return [first, ...others];
}

function refuseUnlike(generators: readonly GeneratorRunSpec["generator"][]): void {
  const refuse = (member: string, text: string) =>
    usageError(`RUN_SPEC: generator.${member}: in a load curve ${text}`);
  const loads = generators.map(({ load }) => load);
  if (loads.filter(({ model }) => model === "closed").length > 1)
    throw refuse("load", "a target has one closed loop at most");
  const open = loads.flatMap((load) => (load.model === "open" ? [load] : []));
  if (new Set(open.map(({ connections }) => connections)).size > 1)
    throw refuse("load.connections", "all open loops of a target have the same connections");
  if (open.some(({ arrivals }) => arrivals === "trace"))
    throw refuse("load.arrivals", "requests have no times of a trace");
  if (generators.some(({ traffic }) => findProfile(traffic).binding))
    throw refuse("traffic", "no quota says which request is sent when");
}
