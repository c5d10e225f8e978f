import type { StoreReading } from "../../contract/store.js";
import { GUBERNATOR, HEALTH_PATH } from "../limiters/gubernator.js";
import { decidingEngine, get, metricsIn } from "./deciding.js";

/**
 * Its default of 50,000 is full after seconds of fresh keys; then it forgets keys that are over
 * their limit.
 */
const CACHED_KEYS = 10_000_000;

/** @throws environmentError where a counter is missing */
export function readingOf(name: string, metrics: string): StoreReading {
  const number = metricsIn(name, metrics);
  const local = 'gubernator_getratelimit_counter{calltype="local"}';
  return {
    // It does not tell its version.
    version: "",
    run_id: String(number("gubernator_process_start_time_seconds")),
    // It is there from the first decision on; the counter of denials always is.
    decisions: metrics.includes(local) ? number(local) : number("gubernator_over_limit_counter"),
    keys: number("gubernator_cache_size"),
    evicted_keys: number("gubernator_unexpired_evictions_count"),
  };
}

/**
 * One node of gubernator, which decides itself. Nodes gossip on its main port; HTTP and gRPC have
 * two others.
 */
export const gubernator = decidingEngine({
  id: GUBERNATOR,
  name: GUBERNATOR,
  defaultPort: 7946,
  evidence: ["decisions", "keys", "evictions", "restarts"],
  nodeArguments: ({ arguments: words = [] }) => [...words],
  nodeEnvironment({ bind, port, ports }) {
    // It calls itself at the address by which it knows itself. Without gossip it knows no node, and
    // decides nothing.
    const self = `127.0.0.1:${ports.grpc}`;
    const gossipAddress = `127.0.0.1:${port}`;
    return {
      GUBER_HTTP_ADDRESS: `${bind}:${ports.http}`,
      GUBER_GRPC_ADDRESS: `${bind}:${ports.grpc}`,
      GUBER_ADVERTISE_ADDRESS: self,
      GUBER_PEER_DISCOVERY_TYPE: "member-list",
      GUBER_MEMBERLIST_ADVERTISE_ADDRESS: self,
      GUBER_MEMBERLIST_ADDRESS: gossipAddress,
      GUBER_MEMBERLIST_BIND_ADDRESS: gossipAddress,
      GUBER_MEMBERLIST_KNOWN_NODES: gossipAddress,
      GUBER_CACHE_SIZE: String(CACHED_KEYS),
      GUBER_METRIC_FLAGS: "os",
      GUBER_LOG_LEVEL: "error",
      // It would send traces to a collector that is not there.
      OTEL_TRACES_EXPORTER: "none",
    };
  },
  // It answers 503 while it knows no node.
  requireReady: async (node) => void (await get(node, HEALTH_PATH)),
  readingOf,
});
