import { connect as openSocket, type Socket } from "node:net";
import type { StoredKeys, StoreReading } from "../../../contract/store.js";
import type { StoreAccess } from "../../../contract/store-url.js";
import type { NodePlace } from "../../../kit/env.js";
import { environmentError, messageOf, usageError } from "../../../kit/errors.js";
import { sum } from "../../../kit/numbers.js";
import type { StoreDescription, StoreSession } from "../../target-types.js";
import { waitUntil } from "../deciding.js";
import { onlyGiven } from "../index.js";

const COMMAND_TIMEOUT_MS = 10_000;

/** The last line of an answer that is not an error. */
const DONE = /^(END|OK|RESET|STORED|TOUCHED|NOT_FOUND|VERSION .*)$/;
/** Errors of memcached, and of a server that speaks RESP. */
const REFUSED = /^(ERROR|CLIENT_ERROR|SERVER_ERROR|BUSY|-)/;

interface Command {
  text: string;
  lines: string[];
  resolve(lines: string[]): void;
  reject(error: Error): void;
}

/**
 * A connection by memcached's text protocol; it opens again with the next command after it was
 * lost.
 */
export class MemcachedNode {
  readonly place: NodePlace;
  readonly name: string;
  #socket: Socket | undefined;
  #rest = "";
  readonly #pending: Command[] = [];

  constructor(place: NodePlace) {
    this.place = place;
    this.name = `${place.host}:${place.port}`;
  }

  /**
   * @returns the lines of the answer
   * @throws environmentError naming the node and the command, also when no answer comes in time
   */
  call(text: string, timeoutMs = COMMAND_TIMEOUT_MS): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#lose(`no answer within ${timeoutMs} ms`), timeoutMs);
      const settled =
        <Value>(then: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer);
          then(value);
        };
      this.#pending.push({ text, lines: [], resolve: settled(resolve), reject: settled(reject) });
      this.#socket ??= this.#open();
      this.#socket.write(`${text}\r\n`);
    });
  }

  async stats(group = ""): Promise<Map<string, string>> {
    const lines = await this.call(`stats ${group}`.trim());
    return new Map(
      lines.flatMap((line) => {
        const statistic = /^STAT (?<name>\S+) (?<value>.*)$/.exec(line)?.groups;
        return statistic ? [[statistic.name ?? "", statistic.value ?? ""] as const] : [];
      }),
    );
  }

  close(): void {
    this.#lose("the connection was closed");
  }

  #open(): Socket {
    const socket = openSocket(this.place);
    socket.setEncoding("latin1").setNoDelay(true);
    socket.on("data", (data) => this.#read(String(data)));
    socket.on("error", (error) => this.#lose(messageOf(error), socket));
    socket.on("close", () => this.#lose("it closed the connection", socket));
    return socket;
  }

  #read(data: string): void {
    // Some answers end their lines without a carriage return.
    const lines = (this.#rest + data).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const command = this.#pending[0];
      if (!command) return;
      command.lines.push(line);
      if (!DONE.test(line) && !REFUSED.test(line)) continue;
      this.#pending.shift();
      if (DONE.test(line)) command.resolve(command.lines);
      else command.reject(environmentError(`${this.name}: ${command.text}: ${line}`));
    }
  }

  /** @param socket the one that was lost; a later one is kept */
  #lose(why: string, socket = this.#socket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#rest = "";
    socket?.destroy();
    for (const { text, reject } of this.#pending.splice(0))
      reject(environmentError(`${this.name} does not answer: ${text}: ${why}`));
  }
}

/**
 * Settings that can affect a figure; every result contains them as the running store reports them.
 */
const SETTINGS = [
  "maxbytes",
  "maxconns",
  "num_threads",
  "evictions",
  "item_size_max",
  "growth_factor",
  "cas_enabled",
  "hash_algorithm",
  "lru_segmented",
  "lru_maintainer_thread",
  "lru_crawler",
  "slab_automove",
  "udpport",
  "idle_timeout",
];

const microseconds = (seconds: number): number => Math.round(seconds * 1e6);

/**
 * The decisions of rate-limiter-flexible's `RateLimiterMemcache`, from memcached's
 * counters. A decision either increments an existing key, which is one `incr` hit, or creates it,
 * which is an `incr` miss, an `add` that is stored, and an `add` of the key's expiry. If clients
 * race to create a key, all but one see an `incr` miss and an `add` that is not stored, and then
 * increment. `cmd_set` counts every `add`, stored or not.
 *
 * Therefore incr misses = created + lost races, and cmd_set = 2 × created + lost races. The
 * decisions are hits + created = hits + cmd_set - misses. A block would add two to `cmd_set`, which
 * is why targets with this limiter take no block.
 */
const decisionsOf = (number: (name: string) => number): number =>
  number("incr_hits") + number("cmd_set") - number("incr_misses");

/**
 * The decisions of a limiter that names the commands that carry them. memcached counts some
 * of its commands.
 */
const callsOf = (commands: readonly string[], stats: ReadonlyMap<string, string>): number =>
  sum(commands.map((command) => Number(stats.get(`cmd_${command}`) ?? 0)));

async function readNode(
  node: MemcachedNode,
  store: StoreDescription,
  decisionCommands?: readonly string[],
): Promise<StoreReading> {
  const stats = await node.stats();
  const number = (name: string): number => {
    const value = Number(stats.get(name));
    if (stats.has(name) && Number.isFinite(value)) return value;
    throw environmentError(`${node.name}: stats has no number ${name}`);
  };
  const uptime_s = number("uptime");
  return onlyGiven(
    {
      version: stats.get("version") ?? "",
      uptime_s,
      // In a container the process id is always the same.
      run_id: `${number("pid")}:${number("time") - uptime_s}`,
      decisions: decisionCommands ? callsOf(decisionCommands, stats) : decisionsOf(number),
      keys: number("curr_items"),
      evicted_keys: number("evictions"),
      used_memory_bytes: number("bytes"),
      connections_received: number("total_connections"),
      cpu_user_us: microseconds(number("rusage_user")),
      cpu_system_us: microseconds(number("rusage_system")),
    },
    store,
  );
}

const KEYS_AT_ONCE = 50;

async function readNumbers(
  nodes: readonly MemcachedNode[],
  keys: readonly string[],
): Promise<(number | undefined)[]> {
  const numbers = new Map<string, number>();
  for (const node of nodes) {
    for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
      const lines = await node.call(`get ${keys.slice(start, start + KEYS_AT_ONCE).join(" ")}`);
      lines.forEach((line, index) => {
        const [, key] = /^VALUE (\S+) /.exec(line) ?? [];
        if (key !== undefined) numbers.set(key, Number(lines[index + 1]?.trim()));
      });
    }
  }
  return keys.map((key) => numbers.get(key));
}

/** The items that the crawler finds, without those that have ended. */
async function itemsOf(node: MemcachedNode): Promise<{ key: string; isEndless: boolean }[]> {
  const now_s = Number((await node.stats()).get("time"));
  return (await node.call("lru_crawler metadump all")).flatMap((line) => {
    const [, key, end] = /^key=(\S+) exp=(-?\d+)/.exec(line) ?? [];
    if (key === undefined) return [];
    const isEndless = Number(end) <= 0;
    return isEndless || Number(end) > now_s ? [{ key, isEndless }] : [];
  });
}

async function storedKeys(nodes: readonly MemcachedNode[]): Promise<StoredKeys> {
  const items = (await Promise.all(nodes.map(itemsOf))).flat();
  return {
    keys: items.length,
    without_end: items.filter(({ isEndless }) => isEndless).length,
    examples: items.slice(0, 5).map(({ key }) => decodeURIComponent(key)),
  };
}

async function persistKeys(nodes: readonly MemcachedNode[]): Promise<number> {
  let persisted = 0;
  for (const node of nodes) {
    for (const { key, isEndless } of await itemsOf(node)) {
      if (isEndless) continue;
      // The crawler escapes keys.
      await node.call(`touch ${decodeURIComponent(key)} 0`);
      persisted++;
    }
  }
  return persisted;
}

/**
 * Empties the nodes. `flush_all` only marks items as gone, and the crawler removes them. A service
 * may still write, so this happens twice.
 */
async function reset(nodes: readonly MemcachedNode[], deadlineMs: number): Promise<void> {
  for (const node of nodes) await node.call("flush_all");
  await waitUntil("emptied store", deadlineMs, async () => {
    for (const node of nodes) {
      const items = Number((await node.stats()).get("curr_items"));
      if (items === 0) continue;
      await node.call("flush_all");
      // It answers BUSY while it is still at work.
      await node.call("lru_crawler crawl all").catch(() => undefined);
      return `${node.name} still holds ${items} items`;
    }
    return undefined;
  });
  for (const node of nodes) await node.call("stats reset");
}

export async function connect(
  places: readonly NodePlace[],
  access: StoreAccess,
): Promise<StoreSession> {
  if (access.username || access.password || access.tls)
    throw usageError("memcached is reached without a password and without TLS");
  const nodes = places.map((place) => new MemcachedNode(place));
  return {
    ready: (_topology, deadlineMs) =>
      waitUntil("store", deadlineMs, async () => {
        for (const node of nodes)
          await node.call("version", Math.max(1, deadlineMs - performance.now()));
        return undefined;
      }),
    async form() {
      throw usageError("memcached runs standalone only: there is no cluster to form");
    },
    reset: (deadlineMs) => reset(nodes, deadlineMs),
    read: (store, commands) => Promise.all(nodes.map((node) => readNode(node, store, commands))),
    numbers: (keys) => readNumbers(nodes, keys),
    async inject({ action }) {
      if (action !== "flush-keys") throw usageError(`memcached cannot carry out ${action}`);
      await Promise.all(nodes.map((node) => node.call("flush_all")));
    },
    storedKeys: () => storedKeys(nodes),
    persistKeys: () => persistKeys(nodes),
    async settings() {
      const statistics = (await nodes[0]?.stats("settings")) ?? new Map<string, string>();
      return Object.fromEntries(
        SETTINGS.flatMap((name) => {
          const value = statistics.get(name);
          return value === undefined ? [] : [[name, value]];
        }),
      );
    },
    async discover() {
      const [first] = nodes;
      if (!first) throw environmentError("no store was named");
      const version = (await first.stats()).get("version") ?? "";
      return { store: "memcached", version, topology: "standalone", nodes: [first.place] };
    },
    close() {
      for (const node of nodes) node.close();
    },
  };
}
