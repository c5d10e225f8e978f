import type { NodeCounters } from "../../../contract/diagnosis.js";
import type { StoreReading } from "../../../contract/store.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { environmentError, messageOf } from "../../../kit/errors.js";
import type { StoreDescription } from "../../target-types.js";
import { waitUntil } from "../deciding.js";
import { gives, onlyGiven } from "../index.js";
import { type StoreNode, unlessRefused } from "./nodes.js";
import { storesByFields } from "./resp-version.js";

/**
 * Settings that can affect a figure; every result contains them as the running store reports them.
 */
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

/** Commands that run a script; a call is counted under the command that carried it. */
const SCRIPT_COMMANDS = ["eval", "evalsha", "fcall"] as const;

export const isReplica = async (node: StoreNode): Promise<boolean> =>
  (await unlessRefused(node.info("replication")))?.get("role") === "slave";

/** One field of `calls=5,usec=31,…,failed_calls=1`. */
const statistic = (text: string, name: string): number =>
  Number(new RegExp(`(?:^|,)${name}=(\\d+)`).exec(text)?.[1] ?? 0);

/**
 * All and failed calls of these commands since the statistics were reset. A command without
 * a call is absent.
 */
function callsOf(commands: readonly string[], fields: ReadonlyMap<string, string>) {
  const calls: Record<string, { calls: number; failed: number }> = {};
  for (const command of commands) {
    const text = fields.get(`cmdstat_${command}`);
    if (!text) continue;
    calls[command] = { calls: statistic(text, "calls"), failed: statistic(text, "failed_calls") };
  }
  return calls;
}

const fromZero = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 ? value : undefined;

/**
 * Reads the fields of some sections of INFO.
 * @param isNamed whether the user named the store's program, because unknown sections, and INFO
 * itself, may then have any answer
 */
async function fieldsOf(
  node: StoreNode,
  sections: readonly string[],
  isNamed: boolean,
): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const section of sections) {
    const answer = node.info(section);
    const sectionFields = await (isNamed ? answer.catch(() => undefined) : unlessRefused(answer));
    for (const [name, value] of sectionFields ?? []) fields.set(name, value);
  }
  return fields;
}

/**
 * The counters of one node, since its statistics were reset. What the server keeps to
 * itself is absent. One that the user named by its program alone may lack anything.
 */
export async function readNode(
  node: StoreNode,
  store: StoreDescription,
  decisionCommands: readonly string[] = store.decisionCommands ?? SCRIPT_COMMANDS,
): Promise<StoreReading> {
  const fields = await fieldsOf(node, READ_SECTIONS, store.isNamed === true);
  return store.isNamed
    ? readNamedNode(node, fields, decisionCommands)
    : readKnownNode(node, fields, store, decisionCommands);
}

const READ_SECTIONS = ["server", "stats", "memory", "cpu", "commandstats"];

type Fields = ReadonlyMap<string, string>;

/** @param factor from the unit of the field to that of the reading, which is a whole number */
function numberIn(fields: Fields, name: string, factor = 1): number | undefined {
  const value = Math.round(Number(fields.get(name)) * factor);
  return fields.has(name) && Number.isFinite(value) ? value : undefined;
}

/** A number of a server that may answer with anything. */
function countIn(fields: Fields, name: string): number | undefined {
  const value = Number(fields.get(name));
  return Number.isInteger(value) && value >= 0 ? numberIn(fields, name) : undefined;
}

async function readNamedNode(
  node: StoreNode,
  fields: Fields,
  decisionCommands: readonly string[],
): Promise<StoreReading> {
  const keys = Number(await node.call("DBSIZE").catch(() => Number.NaN));
  return definedOnly({
    uptime_s: countIn(fields, "uptime_in_seconds"),
    run_id: fields.get("run_id"),
    evicted_keys: countIn(fields, "evicted_keys"),
    used_memory_bytes: countIn(fields, "used_memory"),
    version: versionField(fields) ?? "",
    decisions: decisionsIn(fields, decisionCommands),
    keys: Number.isInteger(keys) ? keys : undefined,
  });
}

/** @throws environmentError when the node is another store */
async function readKnownNode(
  node: StoreNode,
  fields: Fields,
  store: StoreDescription,
  decisionCommands: readonly string[],
): Promise<StoreReading> {
  const possibleStores = storesByFields((name) => fields.has(name));
  const actualStore = possibleStores.find(({ id }) => id === store.id);
  if (!actualStore) {
    const actual = possibleStores[0]?.id ?? "unknown";
    throw environmentError(`${node.name} is ${actual}, not ${store.id}`);
  }

  const keys = gives(store, "keys") ? await unlessRefused(node.call("DBSIZE")) : undefined;
  const reading = definedOnly({
    // The store computes it from the wall clock: where that was set back, it says nothing.
    uptime_s: fromZero(numberIn(fields, "uptime_in_seconds")),
    run_id: fields.get("run_id"),
    evicted_keys: numberIn(fields, "evicted_keys"),
    used_memory_bytes: numberIn(fields, "used_memory"),
    version: fields.get(actualStore.versionField) ?? "",
    // A replica repeats the commands of its primary, and decides nothing.
    decisions: decisionsIn(fields, (await isReplica(node)) ? [] : decisionCommands),
    script_calls: hasStatistics(fields) ? callsOf(SCRIPT_COMMANDS, fields) : undefined,
    connections_received: numberIn(fields, "total_connections_received"),
    keys: keys === undefined ? undefined : Number(keys),
    expired_keys: numberIn(fields, "expired_keys"),
    cpu_user_us: numberIn(fields, "used_cpu_user", 1e6),
    cpu_system_us: numberIn(fields, "used_cpu_sys", 1e6),
  });
  return onlyGiven(reading, store);
}

/** Any command has statistics once INFO has been called. */
const hasStatistics = (fields: ReadonlyMap<string, string>): boolean =>
  [...fields.keys()].some((name) => name.startsWith("cmdstat_"));

/** A call of a script that the node does not know fails and is repeated. */
function decisionsIn(
  fields: ReadonlyMap<string, string>,
  decisionCommands: readonly string[],
): number | undefined {
  if (!hasStatistics(fields)) return undefined;
  const decided = Object.values(callsOf(decisionCommands, fields));
  return decided.reduce((total, { calls, failed }) => total + calls - failed, 0);
}

/**
 * A version as INFO may hold it, e.g. `kvrocks_version`. The version with which the server
 * claims to be compatible comes last.
 */
function versionField(fields: ReadonlyMap<string, string>): string | undefined {
  const names = [...fields.keys()].filter(
    (name) => /^[a-z]+_version$/.test(name) && name !== "gcc_version",
  );
  const name = names.find((candidate) => candidate !== "redis_version") ?? names[0];
  return name === undefined ? undefined : fields.get(name);
}

/**
 * Reads `p50=12.031,p99=25.087,p99.9=40.191`. A store that does not report percentiles gives none.
 */
function percentilesOf(text = ""): Pick<NodeCounters["commands"][string], "p50_us" | "p99_us"> {
  const percentile = (name: string): number | undefined => {
    const value = new RegExp(`(?:^|,)${name}=([\\d.]+)`).exec(text)?.[1];
    return value === undefined ? undefined : Number(value);
  };
  return definedOnly({ p50_us: percentile("p50"), p99_us: percentile("p99") });
}

/**
 * The time per command, and bytes from and to clients, of one node since its statistics
 * were reset.
 */
export async function diagnoseNode(
  node: StoreNode,
  decisionCommands: readonly string[] = SCRIPT_COMMANDS,
): Promise<NodeCounters> {
  const fields = await fieldsOf(node, ["stats", "commandstats", "latencystats"], true);
  // A replica repeats the commands of its primary, and decides nothing.
  const commands = (await isReplica(node)) ? [] : decisionCommands;
  return definedOnly({
    commands: timesOf(commands, fields),
    received_bytes: clientBytes(fields, "input"),
    sent_bytes: clientBytes(fields, "output"),
  });
}

function timesOf(commands: readonly string[], fields: Fields): NodeCounters["commands"] {
  const times: NodeCounters["commands"] = {};
  for (const command of commands) {
    const text = fields.get(`cmdstat_${command}`);
    if (!text) continue;
    times[command] = {
      calls: statistic(text, "calls"),
      us: statistic(text, "usec"),
      ...percentilesOf(fields.get(`latency_percentiles_usec_${command}`)),
    };
  }
  return times;
}

/** The server's totals include what replicas take and send. */
function clientBytes(fields: Fields, direction: "input" | "output"): number | undefined {
  const total = Number(fields.get(`total_net_${direction}_bytes`) ?? Number.NaN);
  if (!Number.isFinite(total)) return undefined;
  return total - Number(fields.get(`total_net_repl_${direction}_bytes`) ?? 0);
}

const keysOf = async (node: StoreNode): Promise<number> =>
  Number((await unlessRefused(node.call("DBSIZE"))) ?? 0);

/**
 * Empties the store and resets its statistics. Only called for a store that the harness has
 * started.
 */
export async function resetStore(nodes: readonly StoreNode[], deadlineMs: number): Promise<void> {
  for (const node of nodes) {
    // Some compatible servers do not survive FLUSHALL, so an empty one is left alone.
    if ((await keysOf(node)) > 0 && !(await isReplica(node))) await node.call("FLUSHALL");
  }
  await waitUntil("emptied store", deadlineMs, async () => {
    for (const node of nodes) {
      const keys = await keysOf(node);
      if (keys > 0) return `${node.name} still holds ${keys} keys`;
    }
    return undefined;
  });
  for (const node of nodes) await unlessRefused(node.call("CONFIG", "RESETSTAT"));
}

/** Calls of one node that are under way together. */
const KEYS_AT_ONCE = 1000;

/** The whole numbers under these keys. It is undefined for a key that no primary has. */
export async function readNumbers(
  nodes: readonly StoreNode[],
  keys: readonly string[],
): Promise<(number | undefined)[]> {
  const numbers = new Map<string, number>();
  let missing = keys;
  for (const node of nodes) {
    if (missing.length === 0 || (await isReplica(node))) continue;
    missing = await readNumbersOf(node, missing, numbers);
  }
  return keys.map((key) => numbers.get(key));
}

/** Adds the numbers that one node has. @returns the keys that another node has */
async function readNumbersOf(
  node: StoreNode,
  keys: readonly string[],
  numbers: Map<string, number>,
): Promise<string[]> {
  const keysElsewhere: string[] = [];
  const read = async (key: string): Promise<void> => {
    const value = await node.call("GET", key).catch((error: unknown) => {
      if (!messageOf(error).includes("MOVED")) throw error;
      keysElsewhere.push(key);
      return null;
    });
    if (value !== null) numbers.set(key, Number(value));
  };
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    await Promise.all(keys.slice(from, from + KEYS_AT_ONCE).map(read));
  }
  return keysElsewhere;
}

/** The settings of the first running node, without those that it does not tell. */
export async function readSettings([first]: readonly StoreNode[]): Promise<Record<string, string>> {
  const settings: Record<string, string> = {};
  if (!first) return settings;
  for (const name of SETTINGS) {
    const answer = (await unlessRefused(first.call("CONFIG", "GET", name))) as string[] | undefined;
    const value = answer?.[1];
    if (value !== undefined) settings[name] = value;
  }
  return settings;
}
