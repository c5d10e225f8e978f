import type { Workload } from "../../../contract/configuration.js";
import type { ProbeReport } from "../../../contract/store.js";
import {
  findOperation,
  fixedWindowScript,
  KEYSPACE,
  keyName,
} from "../../load-programs/operations.js";
import type { StoreNode } from "./nodes.js";

/** Writes that are under way together. */
const FILLED_AT_ONCE = 500;

/**
 * Writes all keys that the operation reads or overwrites, and loads its script.
 * @returns how many keys were written, and the command that runs the script: by its sha1 where the
 *   server can
 * @throws environmentError when the server refuses a command
 */
export async function prepareOperation(
  [first]: readonly StoreNode[],
  { id, payload_bytes = 1, keys = KEYSPACE }: Workload,
): Promise<NonNullable<ProbeReport["prepared"]>> {
  if (!first) return { filled: 0 };

  const { filledKeys, needs } = findOperation(id);
  if (filledKeys !== undefined) {
    await fillKeys(first, filledKeys, keys, "x".repeat(payload_bytes));
  }
  const filled = filledKeys === undefined ? 0 : keys;
  return needs === "EVAL" ? { filled, script: await scriptCommand(first) } : { filled };
}

async function fillKeys(
  node: StoreNode,
  prefix: string,
  keys: number,
  value: string,
): Promise<void> {
  for (let from = 0; from < keys; from += FILLED_AT_ONCE) {
    const length = Math.min(FILLED_AT_ONCE, keys - from);
    const names = Array.from({ length }, (_, index) => keyName(prefix, from + index));
    await Promise.all(names.map((name) => node.call("SET", name, value)));
  }
}

async function scriptCommand(node: StoreNode): Promise<string[]> {
  const text = await fixedWindowScript();
  const sha1 = await node.call("SCRIPT", "LOAD", text).catch(() => undefined);
  return typeof sha1 === "string" ? ["EVALSHA", sha1] : ["EVAL", text];
}
