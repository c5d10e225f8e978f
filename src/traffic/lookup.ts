import { usageError } from "../kit/errors.js";
import { profiles } from "./profiles.js";
import type { TrafficProfile } from "./traffic-types.js";
import { type WorkloadDescription, workloads } from "./workloads.js";

function find<Thing extends { id: string }>(
  kind: string,
  list: readonly Thing[],
  id: string,
): Thing {
  const thing = list.find((candidate) => candidate.id === id);
  if (thing) return thing;
  const valid = list.map((thing) => thing.id).join(", ");
  throw usageError(`there is no ${kind} ${JSON.stringify(id.slice(0, 60))}; valid: ${valid}`);
}

export const findProfile = (id: string): TrafficProfile => find("traffic", profiles, id);

export const findWorkload = (id: string): WorkloadDescription => find("workload", workloads, id);
