import type { EvidenceName, StoreReading } from "../../contract/store.js";
import type { StoreDescription } from "../target-types.js";

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
  const absentMembers: readonly string[] = withoutEvidence.flatMap((name) => members[name]);
  return Object.fromEntries(
    Object.entries(reading).filter(([name]) => !absentMembers.includes(name)),
  ) as StoreReading;
}

export const stores: readonly StoreDescription[] = [
  {
    id: "valkey",
    engine: "resp",
    program: "valkey-server",
    image: { name: "valkey/valkey:8.1", variable: "VALKEY_IMAGE" },
    versionField: "valkey_version",
    conf: "valkey.conf",
  },
  {
    id: "redis",
    engine: "resp",
    program: "redis-server",
    image: { name: "redis:8.0", variable: "REDIS_IMAGE" },
    versionField: "redis_version",
    conf: "redis.conf",
  },
  {
    id: "memcached",
    engine: "memcached",
    program: "memcached",
    image: { name: "memcached:1.6", variable: "MEMCACHED_IMAGE" },
    // memcached's default of 64 MB is full after seconds of fresh keys. docs/clients.md gives the
    // reasons of the other arguments, which also turn UDP off.
    arguments: ["-m", "1024", "-c", "4096", "-t", "2", "-U", "0"],
    topologies: ["standalone"],
    commandThreads: 2,
  },
  {
    id: "throttlecrab",
    engine: "throttlecrab",
    program: "throttlecrab-server",
    image: { name: "lazureykis/throttlecrab:0.4.40", variable: "THROTTLECRAB_IMAGE" },
    topologies: ["standalone"],
    ports: ["http", "grpc"],
    decides: true,
    limiter: "throttlecrab",
  },
  {
    id: "gubernator",
    engine: "gubernator",
    program: "gubernator",
    withoutVersionFlag: true,
    topologies: ["standalone"],
    ports: ["http", "grpc"],
    decides: true,
    limiter: "gubernator",
  },
  /** This store is counters in the server's own process. */
  { id: "memory" },
  /** This store keeps no counters. */
  { id: "none" },
];
