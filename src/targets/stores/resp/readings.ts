import type { NodeCounters } from "../../../contract/diagnosis.js";
import type { StoreReading } from "../../../contract/store.js";
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
 * All and failed calls of these commands since the statistics were reset; a command without a call
 * is absent.
 */
function callsOf(commands: readonly string[], fields: ReadonlyMap<string, string>) {
  return Object.fromEntries(
    commands.flatMap((command) => {
      const text = fields.get(`cmdstat_${command}`);
      return text
        ? [
            [
              command,
              { calls: statistic(text, "calls"), failed: statistic(text, "failed_calls") },
            ] as const,
          ]
        : [];
    }),
  );
}

const fromZero = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 ? value : undefined;

/**
 * The fields of some sections of INFO. @param isNamed unknown sections, and INFO itself, may have
 * any answer
 */
async function fieldsOf(
  node: StoreNode,
  sections: readonly string[],
  isNamed: boolean,
): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  for (const section of sections) {
    const asked = node.info(section);
    const found = await (isNamed ? asked.catch(() => undefined) : unlessRefused(asked));
    for (const [name, value] of found ?? []) fields.set(name, value);
  }
  return fields;
}

/**
 * The counters of one node, since its statistics were reset. What the server keeps to itself is
 * absent. One that the user named by its program alone may lack anything.
 */
export async function readNode(
  node: StoreNode,
  store: StoreDescription,
  decisionCommands: readonly string[] = store.decisionCommands ?? SCRIPT_COMMANDS,
): Promise<StoreReading> {
  const { isNamed = false } = store;
  const fields = await fieldsOf(
    node,
    ["server", "stats", "memory", "cpu", "commandstats"],
    isNamed,
  );
  const number = (name: string, factor = 1): number | undefined => {
    const value = Math.round(Number(fields.get(name)) * factor);
    return fields.has(name) && Number.isFinite(value) ? value : undefined;
  };
  const whole = (name: string): number | undefined => {
    const value = Number(fields.get(name));
    return !isNamed || (Number.isInteger(value) && value >= 0) ? number(name) : undefined;
  };
  const common = {
    // The store computes it from the wall clock: where that was set back, it says nothing.
    uptime_s: fromZero(whole("uptime_in_seconds")),
    run_id: fields.get("run_id"),
    evicted_keys: whole("evicted_keys"),
    used_memory_bytes: whole("used_memory"),
  };
  if (isNamed) {
    const keys = Number(await node.call("DBSIZE").catch(() => Number.NaN));
    return withoutUndefined({
      ...common,
      version: versionField(fields) ?? "",
      decisions: decisionsIn(fields, decisionCommands),
      keys: Number.isInteger(keys) ? keys : undefined,
    });
  }
  const found = storesByFields((name) => fields.has(name));
  const kind = found.find(({ id }) => id === store.id);
  if (!kind)
    throw environmentError(`${node.name} is ${found[0]?.id ?? "unknown"}, not ${store.id}`);
  const keys = gives(store, "keys") ? await unlessRefused(node.call("DBSIZE")) : undefined;
  return onlyGiven(
    withoutUndefined({
      ...common,
      version: fields.get(kind.versionField) ?? "",
      // A replica repeats the commands of its primary, and decides nothing.
      decisions: decisionsIn(fields, (await isReplica(node)) ? [] : decisionCommands),
      script_calls: hasStatistics(fields) ? callsOf(SCRIPT_COMMANDS, fields) : undefined,
      connections_received: number("total_connections_received"),
      keys: keys === undefined ? undefined : Number(keys),
      expired_keys: number("expired_keys"),
      cpu_user_us: number("used_cpu_user", 1e6),
      cpu_system_us: number("used_cpu_sys", 1e6),
    }),
    store,
  );
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

function withoutUndefined(
  members: {
    [Name in keyof StoreReading]: StoreReading[Name] | undefined;
  },
): StoreReading {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as StoreReading;
}

/**
 * A version as INFO may hold it, e.g. `kvrocks_version`; the one that it claims to be compatible
 * with comes last.
 */
function versionField(fields: ReadonlyMap<string, string>): string | undefined {
  const names = [...fields.keys()].filter(
    (name) => /^[a-z]+_version$/.test(name) && name !== "gcc_version",
  );
  const own = names.find((name) => name !== "redis_version") ?? names[0];
  return own === undefined ? undefined : fields.get(own);
}

/** `p50=12.031,p99=25.087,p99.9=40.191`; nothing for a store without them. */
function percentilesOf(text = ""): Pick<NodeCounters["commands"][string], "p50_us" | "p99_us"> {
  const read = (name: string) => new RegExp(`(?:^|,)${name}=([\\d.]+)`).exec(text)?.[1];
  const [p50, p99] = [read("p50"), read("p99")];
  return {
    ...(p50 === undefined ? {} : { p50_us: Number(p50) }),
    ...(p99 === undefined ? {} : { p99_us: Number(p99) }),
  };
}

/** Time per command, and bytes from and to clients, of one node since its statistics were reset. */
export async function diagnoseNode(
  node: StoreNode,
  decisionCommands: readonly string[] = SCRIPT_COMMANDS,
): Promise<NodeCounters> {
  const fields = await fieldsOf(node, ["stats", "commandstats", "latencystats"], true);
  // A replica repeats the commands of its primary, and decides nothing.
  const commands = (await isReplica(node)) ? [] : decisionCommands;
  /** The totals include replication. */
  const bytes = (direction: string): number | undefined => {
    const total = Number(fields.get(`total_net_${direction}_bytes`) ?? Number.NaN);
    return Number.isFinite(total)
      ? total - Number(fields.get(`total_net_repl_${direction}_bytes`) ?? 0)
      : undefined;
  };
  const [received, sent] = [bytes("input"), bytes("output")];
  return {
    commands: Object.fromEntries(
      commands.flatMap((command) => {
        const text = fields.get(`cmdstat_${command}`);
        if (!text) return [];
        const percentiles = percentilesOf(fields.get(`latency_percentiles_usec_${command}`));
        return [
          [
            command,
            { calls: statistic(text, "calls"), us: statistic(text, "usec"), ...percentiles },
          ],
        ];
      }),
    ),
    ...(received === undefined ? {} : { received_bytes: received }),
    ...(sent === undefined ? {} : { sent_bytes: sent }),
  };
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

/** The whole numbers under these keys; undefined for a key that no primary has. */
export async function readNumbers(
  nodes: readonly StoreNode[],
  keys: readonly string[],
): Promise<(number | undefined)[]> {
  const found = new Map<string, number>();
  let missing = keys;
  for (const node of nodes) {
    if (missing.length === 0 || (await isReplica(node))) continue;
    const elsewhere: string[] = [];
    for (let at = 0; at < missing.length; at += KEYS_AT_ONCE) {
      const some = missing.slice(at, at + KEYS_AT_ONCE);
      await Promise.all(
        some.map(async (key) => {
          const value = await node.call("GET", key).catch((error: unknown) => {
            if (!messageOf(error).includes("MOVED")) throw error;
            elsewhere.push(key);
            return null;
          });
          if (value !== null) found.set(key, Number(value));
        }),
      );
    }
    missing = elsewhere;
  }
  return keys.map((key) => found.get(key));
}

/** The settings of the first running node, without those that it does not tell. */
export async function readSettings([first]: readonly StoreNode[]): Promise<Record<string, string>> {
  const pairs: [string, string][] = [];
  for (const name of first ? SETTINGS : []) {
    const asked = first?.call("CONFIG", "GET", name) ?? Promise.resolve();
    const answer = (await unlessRefused(asked)) as string[] | undefined;
    if (answer?.[1] !== undefined) pairs.push([name, answer[1]]);
  }
  return Object.fromEntries(pairs);
}
