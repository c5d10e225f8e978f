import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import type { OpenClient } from "../target-types.js";

/**
 * Finds a key for each primary by the slots that `ask` is told. The hash tag keeps it there
 * whatever the prefix is.
 * @throws Error
 */
export async function shardKeys(
  ask: (name: string, ...words: string[]) => Promise<unknown>,
): Promise<string[]> {
  const ranges = (await ask("CLUSTER", "SLOTS")) as [number, number, unknown][];
  if (!Array.isArray(ranges) || ranges.length === 0)
    throw new Error("CLUSTER SLOTS names no slots");
  const primaryOf = (slot: number) => {
    const range = ranges.find(([first, last]) => first <= slot && slot <= last);
    return range === undefined ? undefined : JSON.stringify(range[2]);
  };
  const missing = new Set(ranges.map(([, , primary]) => JSON.stringify(primary)));
  const keys: string[] = [];
  for (let tag = 0; missing.size > 0; tag++) {
    // 16384 tags can only miss a primary with very few slots; such a cluster is not measured.
    if (tag === 16_384)
      throw new Error(`no key found for ${missing.size} of the cluster's primaries`);
    const key = `preload-{${tag}}`;
    const primary = primaryOf(Number(await ask("CLUSTER", "KEYSLOT", key)));
    if (primary !== undefined && missing.delete(primary)) keys.push(key);
  }
  return keys;
}

/** The keys of a store with one node. */
export const singleShardKeys = async (): Promise<readonly string[]> => ["preload"];

/**
 * Where a node listens for a protocol.
 * @throws Error where the node has no such port
 */
export function namedPort(
  node: NodePlace | undefined,
  name: string,
): { host: string; port: number } {
  const port = node?.ports?.[name];
  if (!node || port === undefined) throw new Error(`no port for ${name} was given`);
  return { host: node.host, port };
}

/** An open client that asks no store: whatever it calls decides. */
export const withoutStore = (
  open: Pick<OpenClient, "handle" | "settings"> & {
    version?: string;
    close?(): void | Promise<void>;
  },
): OpenClient => ({
  handle: open.handle,
  settings: open.settings,
  ...definedOnly({ version: open.version }),
  storeVersion: async () => undefined,
  shardKeys: singleShardKeys,
  close: async () => open.close?.(),
});
