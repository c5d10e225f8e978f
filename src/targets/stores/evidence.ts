import type { EvidenceName, StoreReading } from "../../contract/store.js";
import type { StoreDescription } from "../types.js";

type Declared = Pick<StoreDescription, "withoutEvidence">;

/** The members of a reading that each piece of evidence gives. */
const members: Record<EvidenceName, readonly (keyof StoreReading)[]> = {
  decisions: ["decisions"],
  scripts: ["script_calls"],
  keys: ["keys", "expired_keys"],
  evictions: ["evicted_keys"],
  restarts: ["run_id"],
  memory: ["used_memory_bytes"],
  cpu: ["cpu_user_us", "cpu_system_us"],
};

/** Whether a store gives evidence that its engine can read. */
export const gives = ({ withoutEvidence = [] }: Declared, name: EvidenceName): boolean =>
  !withoutEvidence.includes(name);

export function onlyGiven(reading: StoreReading, { withoutEvidence = [] }: Declared): StoreReading {
  const absent: readonly string[] = withoutEvidence.flatMap((name) => members[name]);
  return Object.fromEntries(
    Object.entries(reading).filter(([name]) => !absent.includes(name)),
  ) as StoreReading;
}
