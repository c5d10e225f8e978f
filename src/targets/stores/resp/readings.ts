import { environmentError } from "../contract/errors.js";
import type { StoreReading } from "../contract/store.js";
import { findStore } from "../targets/resolve.js";
import { stores } from "../targets/stores/index.js";
import { type StoreNode, waitUntil } from "./store-nodes.js";

/** Settings that can affect a figure; every result contains them as the running store reports them. */
const SETTINGS = [
  "maxmemory",
  "maxmemory-policy",
  "save",
  "appendonly",
  "io-threads",
  "hz",
  "dynamic-hz",
  "maxclients",
  "lazyfree-lazy-expire",
  "lazyfree-lazy-eviction",
];

const isPrimary = async (node: StoreNode): Promise<boolean> =>
  (await node.info("replication")).get("role") === "master";

/** One field of `calls=5,usec=31,…,failed_calls=1`. */
function statistic(text: string, name: string): number {
  return Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(text)?.[1] ?? 0);
}

/** The counters of one node, since its statistics were reset. */
export async function readNode(node: StoreNode, store: string): Promise<StoreReading> {
  const { versionField, scriptCommands } = findStore(store);
  const fields = new Map<string, string>();
  for (const section of ["server", "stats", "memory", "cpu", "commandstats"]) {
    for (const [name, value] of await node.info(section)) fields.set(name, value);
  }
  const number = (name: string): number => {
    const value = Number(fields.get(name));
    if (Number.isFinite(value)) return value;
    throw environmentError(`${node.name}: INFO has no number ${name}`);
  };
  // Valkey also reports a redis_version, so the first store in the list whose field exists is the kind.
  const kind = stores.find((each) => each.versionField && fields.has(each.versionField))?.id;
  const version = fields.get(versionField);
  if (!version || kind !== store)
    throw environmentError(`${node.name} is ${kind ?? "unknown"}, not ${store}`);
  const scripts = scriptCommands.flatMap((command) => {
    const text = fields.get(`cmdstat_${command}`);
    return text
      ? [[command, { calls: statistic(text, "calls"), failed: statistic(text, "failed_calls") }]]
      : [];
  });
  return {
    run_id: fields.get("run_id") ?? "",
    version,
    uptime_s: number("uptime_in_seconds"),
    keys: Number(await node.call("DBSIZE")),
    evicted_keys: number("evicted_keys"),
    expired_keys: number("expired_keys"),
    used_memory_bytes: number("used_memory"),
    script_calls: Object.fromEntries(scripts),
    cpu_user_us: Math.round(number("used_cpu_user") * 1e6),
    cpu_system_us: Math.round(number("used_cpu_sys") * 1e6),
  };
}

/** Empties the store and resets its statistics. Only called for a store that the harness has started. */
export async function resetStore(nodes: readonly StoreNode[], deadlineMs: number): Promise<void> {
  for (const node of nodes) if (await isPrimary(node)) await node.call("FLUSHALL");
  await waitUntil("emptied store", deadlineMs, async () => {
    for (const node of nodes) {
      const keys = Number(await node.call("DBSIZE"));
      if (keys > 0) return `${node.name} still holds ${keys} keys`;
    }
    return undefined;
  });
  for (const node of nodes) await node.call("CONFIG", "RESETSTAT");
}

/** The settings of the first running node, without those that it does not know. */
export async function readSettings(nodes: readonly StoreNode[]): Promise<Record<string, string>> {
  const first = nodes[0];
  if (!first) return {};
  const pairs: [string, string][] = [];
  for (const name of SETTINGS) {
    const answer = (await first.call("CONFIG", "GET", name)) as string[];
    if (answer[1] !== undefined) pairs.push([name, answer[1]]);
  }
  return Object.fromEntries(pairs);
}
