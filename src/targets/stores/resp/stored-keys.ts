import type { StoredKeys } from "../../../contract/store.js";
import type { StoreNode } from "./nodes.js";
import { isReplica } from "./readings.js";

/** Keys of one reply, roughly, and calls that are under way together. */
const AT_ONCE = 1000;
const MOST_EXAMPLES = 5;
/** Answers of PTTL that are no time. */
const NO_KEY = -2;
const WITHOUT_END = -1;

/**
 * Calls `use` with some keys at a time. SCAN passes by what has ended, and may name a key twice.
 */
async function scan(
  node: StoreNode,
  use: (keys: readonly string[]) => Promise<void>,
): Promise<void> {
  let cursor = "0";
  do {
    const [next, keys] = (await node.call("SCAN", cursor, "COUNT", AT_ONCE)) as [string, string[]];
    await use(keys);
    cursor = next;
  } while (cursor !== "0");
}

async function primaries(nodes: readonly StoreNode[]): Promise<StoreNode[]> {
  const replicas = await Promise.all(nodes.map(isReplica));
  return nodes.filter((_, index) => !replicas[index]);
}

/**
 * All keys of the primaries. It is only called for a store that the harness has started.
 */
export async function storedKeys(nodes: readonly StoreNode[]): Promise<StoredKeys> {
  const stored = new Set<string>();
  let without_end = 0;
  for (const node of await primaries(nodes)) {
    await scan(node, async (keys) => {
      const newKeys = keys.filter((key) => !stored.has(key));
      const lifetimes = await Promise.all(newKeys.map((key) => node.call("PTTL", key)));
      for (const [index, key] of newKeys.entries()) {
        const lifetime_ms = Number(lifetimes[index]);
        // The key may have ended in the meantime.
        if (lifetime_ms === NO_KEY) continue;
        stored.add(key);
        if (lifetime_ms === WITHOUT_END) without_end++;
      }
    });
  }
  return { keys: stored.size, without_end, examples: [...stored].slice(0, MOST_EXAMPLES) };
}

/** Takes the end from all keys. Only called for a store that the harness has started. */
export async function persistKeys(nodes: readonly StoreNode[]): Promise<number> {
  let persisted = 0;
  for (const node of await primaries(nodes)) {
    await scan(node, async (keys) => {
      const answers = await Promise.all(keys.map((key) => node.call("PERSIST", key)));
      persisted += answers.filter((answer) => Number(answer) === 1).length;
    });
  }
  return persisted;
}
