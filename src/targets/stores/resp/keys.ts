import type { StoredKeys } from "../../../contract/store.js";
import type { StoreNode } from "./nodes.js";
import { isReplica } from "./readings.js";

/** Keys of one reply, roughly, and calls that are under way together. */
const AT_ONCE = 1000;
const MOST_EXAMPLES = 5;

/** Calls `use` with some keys at a time. SCAN passes by what has ended, and may name a key twice. */
async function scan(node: StoreNode, use: (keys: readonly string[]) => Promise<void>): Promise<void> {
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

/** All keys of the primaries. Only called for a store that the harness has started. */
export async function storedKeys(nodes: readonly StoreNode[]): Promise<StoredKeys> {
  const found = new Set<string>();
  let without_end = 0;
  for (const node of await primaries(nodes)) {
    await scan(node, async (keys) => {
      const fresh = keys.filter((key) => !found.has(key));
      const left = await Promise.all(fresh.map((key) => node.call("PTTL", key)));
      for (const [index, key] of fresh.entries()) {
        // It may have ended in the meantime.
        if (Number(left[index]) === -2) continue;
        found.add(key);
        if (Number(left[index]) === -1) without_end++;
      }
    });
  }
  return { keys: found.size, without_end, examples: [...found].slice(0, MOST_EXAMPLES) };
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
