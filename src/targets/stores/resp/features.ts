import type { Workload } from "../../../contract/configuration.js";
import type { ProbeReport, StoreFeature } from "../../../contract/store.js";
import { findOperation, fixedWindowScript, KEYSPACE, keyName } from "../../benchmarks/operations.js";
import type { StoreNode } from "./nodes.js";

/** Keys that are filled in at the same time. */
const FILLED_AT_ONCE = 500;

/** Each feature's test: it has the feature when this resolves to true. */
const tests: Readonly<Record<StoreFeature, (node: StoreNode) => Promise<boolean>>> = {
  EVAL: async (node) => Number(await node.call("EVAL", "return 7", 0)) === 7,
  HELLO: async (node) => Array.isArray(await node.call("HELLO", 2)),
  CONFIG: async (node) => Array.isArray(await node.call("CONFIG", "GET", "maxmemory")),
  commandstats: async (node) =>
    [...(await node.info("commandstats")).keys()].some((name) => name.startsWith("cmdstat_")),
  DBSIZE: async (node) => Number.isInteger(Number(await node.call("DBSIZE"))),
  used_memory: async (node) => Number((await node.info("memory")).get("used_memory")) > 0,
};

/** What the first node lacks. A server may answer with anything, so every refusal counts. */
export async function missingFeatures([first]: readonly StoreNode[]): Promise<StoreFeature[]> {
  const missing: StoreFeature[] = [];
  if (!first) return missing;
  for (const [feature, test] of Object.entries(tests))
    if (!(await test(first).catch(() => false))) missing.push(feature as StoreFeature);
  return missing;
}

/**
 * Writes all keys that the operation reads or overwrites, and loads its script.
 * @returns how many keys were written, and the command that runs the script: by its sha1 where the server can
 * @throws environmentError when the server refuses a command
 */
export async function prepareOperation(
  [first]: readonly StoreNode[],
  { id, payload_bytes = 1, keys = KEYSPACE }: Workload,
): Promise<NonNullable<ProbeReport["prepared"]>> {
  const { filledKeys, needs } = findOperation(id);
  if (!first) return { filled: 0 };
  const value = "x".repeat(payload_bytes);
  for (let from = 0; filledKeys !== undefined && from < keys; from += FILLED_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(FILLED_AT_ONCE, keys - from) }, (_, index) => from + index);
    await Promise.all(numbers.map((number) => first.call("SET", keyName(filledKeys, number), value)));
  }
  const filled = filledKeys === undefined ? 0 : keys;
  return needs === "EVAL" ? { filled, script: await scriptCommand(first) } : { filled };
}

async function scriptCommand(node: StoreNode): Promise<string[]> {
  const text = await fixedWindowScript();
  const sha1 = await node.call("SCRIPT", "LOAD", text).catch(() => undefined);
  return typeof sha1 === "string" ? ["EVALSHA", sha1] : ["EVAL", text];
}
