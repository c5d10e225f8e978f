import { z } from "zod";
import { MAX_DESCRIPTORS, MAX_KEY_LENGTH } from "../contract/ranges.js";
import { sum } from "../kit/numbers.js";
import { profiles } from "../traffic/profiles.js";
import { trafficShape } from "../traffic/traffic-types.js";
import type { LoadedPlugin } from "./load.js";
import { addToList, checked, forEachMember } from "./validation.js";

const schema = z.strictObject({
  ...trafficShape,
  /** Only `tracePlugin` gives a trace, which it has checked. */
  trace: z.looseObject({}).optional(),
});

const populationSchema = z.object({
  requests: z
    .array(z.array(z.string().min(1).max(MAX_KEY_LENGTH)).min(1).max(MAX_DESCRIPTORS))
    .min(1),
  shares: z.instanceof(Float64Array),
});

export function registerTraffic(plugins: readonly LoadedPlugin[]): void {
  forEachMember(plugins, "traffic", schema, (name, profile, where) => {
    const population = profile.population();
    checked(name, populationSchema, population, [...where, "population()"]);
    const total = sum([...population.shares]);
    const isComplete =
      population.shares.length === population.requests.length && Math.abs(total - 1) < 1e-6;
    checked(name, z.literal(true, "must have a share for each request, 1 in all"), isComplete, [
      ...where,
      "population().shares",
    ]);
    addToList(name, "traffic", profiles, profile);
  });
}
