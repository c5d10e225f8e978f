import { setTimeout as delay } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Limits } from "../../src/contract/configuration.js";
import { type Target, usesStore } from "../../src/contract/target.js";
import { sum } from "../../src/kit/numbers.js";
import { sha256Of } from "../../src/orchestrator/plan/module-files.js";
import { clients } from "../../src/targets/clients/index.js";
import { librariesOnDemand } from "../../src/targets/libraries.js";
import { limiters } from "../../src/targets/limiters/index.js";
import { findModule } from "../../src/targets/modules/index.js";
import { options } from "../../src/targets/options.js";
import {
  describeClient,
  findLimiter,
  findStore,
  resolveTarget,
} from "../../src/targets/resolve.js";
import { stores } from "../../src/targets/stores/index.js";
import { MemcachedNode } from "../../src/targets/stores/memcached/memcached-session.js";
import type {
  ClientDescription,
  Decision,
  Limiter,
  OpenClient,
} from "../../src/targets/target-types.js";
import { programVersion, TargetSystem } from "../helpers/target-system.js";

/** What running a limiter on a real store shows. `null`: it does not apply, or cannot be read. */
export interface LimiterBehaviour {
  /** Full text. */
  target: string;
  /** Two connections at once on a fresh key never get more than the quota. */
  atomic: boolean;
  /** It decides again after its store was killed and started; null without a store. */
  survives_restart: boolean | null;
  /**
   * It decides again after all keys, scripts and functions were deleted; null where the store
   * cannot be emptied.
   */
  survives_flush: boolean | null;
  /**
   * Several keys on all shards of a cluster get exactly their quota; null where the target does not
   * run in one.
   */
  cluster: boolean | null;
  /**
   * Commands that the store executed for an admission on a known key, by name, those of a script
   * too.
   */
  commands: Readonly<Record<string, number>> | null;
  /** From the store's own count of its memory, over fresh keys; rounded to 10. */
  bytes_per_key: number | null;
  /** `limiter`: of a library, a module or a service. */
  tried: { date: string; store?: string; client?: string; limiter?: string };
}

/** The window fits every system, and does not refill while a fact is found. */
const limitsOf = (points: number): Limits => ({ points, window_s: 3_600, block_s: 0 });
const QUOTA = 20;
const GENEROUS = 1_000_000;
const AT_ONCE = 200;
/** A limiter that reads first and counts later may be lucky once. */
const BURSTS = 10;
const DECISIONS = 200;
const FRESH_KEYS = 5_000;
const RECOVERY_MS = 10_000;
/**
 * Redis and Valkey free the buffers of a connection that was idle for two seconds: with ten of
 * them, 30 bytes a key.
 */
const BUFFERS_FREED_MS = 3_000;
/** Commands that our own readings, and clients in the background, send. */
const NOT_OF_DECISIONS =
  /^(info|config|client|hello|ping|auth|select|command|cluster|readonly|flushall|script|function|replconf|psync)\b/;

const resolved = (text: string): Target[] => {
  const resolution = resolveTarget(text);
  return "target" in resolution ? [resolution.target] : [];
};

/** ioredis first: its limiters are those of most libraries. */
const inOrder = (): ClientDescription[] => [
  ...clients.filter(({ id }) => id === "ioredis"),
  ...clients.filter(({ id }) => id !== "ioredis"),
];

/**
 * One target for each way in which a limiter decides: on each client of its own, for a service on
 * each kind of store; a limiter that is an option on the first client that can have it, and in
 * memory.
 */
export function triedTargets(): Target[] {
  const found = limiters.flatMap(({ id, applyTo }) => {
    if (id === "none") return [];
    const store = stores.find(({ limiter }) => limiter === id);
    if (store) return inOrder().flatMap((client) => resolved(`${client.id}@${store.id}`));
    const own = clients.filter(({ limiter }) => limiter === id);
    const variants = (base: readonly ClientDescription[]) =>
      base.flatMap(({ id: client, service, stores: all }) =>
        service === undefined
          ? [client]
          : firstOfEachEngine(all).map((each) => `${client}@${each}`),
      );
    if (own.length > 0) return variants(own).flatMap(resolved);
    if (!applyTo) return [];
    const [first] = inOrder().flatMap((client) =>
      client.control ? [] : resolved(`${client.id}+${id}`),
    );
    return [...(first ? [first] : []), ...resolved(`memory+${id}`)];
  });
  const local = options.flatMap(({ id, pattern }) => {
    if (pattern || limiters.some((limiter) => limiter.id === id)) return [];
    const [first] = inOrder().flatMap((client) => resolved(`${client.id}+${id}`));
    return first?.decides_locally ? [first] : [];
  });
  return [...new Map([...found, ...local].map((target) => [target.text, target])).values()];
}

function firstOfEachEngine(ids: readonly string[]): string[] {
  const engines = ids.map((id) => findStore(id).engine);
  return ids.filter((_, place) => engines.indexOf(engines[place]) === place);
}

interface Opened {
  client: OpenClient;
  consume: Limiter["consume"];
  version?: string;
}

/** Opens clients, runs `work`, and closes them. */
async function withClients<Result>(
  target: Target,
  { place }: Pick<TargetSystem, "place">,
  points: number,
  count: number,
  work: (opened: readonly [Opened, ...Opened[]]) => Promise<Result>,
): Promise<Result> {
  const description = describeClient(target);
  const opened: Opened[] = [];
  try {
    for (let n = 0; n < count; n++) {
      const client = await description.open(place);
      const used = findLimiter(target.limiter);
      const created = await used.create(
        client,
        description,
        limitsOf(points),
        "rl",
        librariesOnDemand(used.onDemand),
      );
      if (!created) throw new Error(`${target.text} decides nothing`);
      const limiter = "standard" in created ? created.standard : created;
      opened.push({
        client,
        consume: (key) => limiter.consume(key),
        ...(created.version ? { version: created.version } : {}),
      });
    }
    return await work(opened as [Opened, ...Opened[]]);
  } finally {
    await Promise.all(opened.map(({ client }) => client.close()));
  }
}

const admitted = (decisions: readonly Decision[]): number =>
  decisions.filter(({ outcome }) => outcome === "allowed").length;

/** One key at once, from all connections. */
const consumeAtOnce = (
  opened: readonly Opened[],
  key: string,
  count: number,
): Promise<Decision[]> =>
  Promise.all(
    Array.from({ length: count }, (_, n) => (opened[n % opened.length] as Opened).consume(key)),
  );

async function neverExceedsQuota(opened: readonly Opened[]): Promise<boolean> {
  for (let burst = 0; burst < BURSTS; burst++)
    if (admitted(await consumeAtOnce(opened, `fresh-${burst}`, AT_ONCE)) > QUOTA) return false;
  return true;
}

/**
 * Whether it decides within some seconds; the first decisions may still find the connection lost.
 */
async function decidesAgain({ consume }: Opened): Promise<boolean> {
  const deadline = Date.now() + RECOVERY_MS;
  do {
    const { outcome } = await consume("again");
    if (outcome !== "failed") return true;
    await delay(100);
  } while (Date.now() < deadline);
  return false;
}

/**
 * Commands that all nodes have executed so far; null for a store that does not count them by name.
 */
async function commandsOf({ place }: TargetSystem): Promise<Record<string, number> | null> {
  const { engine } = findStore(place.store);
  const counted: Record<string, number> = {};
  const add = (name: string, calls: number) => {
    counted[name] = (counted[name] ?? 0) + calls;
  };
  for (const { host, port } of place.nodes) {
    if (engine === "resp") {
      const node = new Redis(port, host, { lazyConnect: true });
      await node.connect();
      const info = await node.info("commandstats");
      node.disconnect();
      for (const [, name = "", calls] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
        if (!NOT_OF_DECISIONS.test(name.toLowerCase())) add(name.toLowerCase(), Number(calls));
      }
    } else if (engine === "memcached") {
      const node = new MemcachedNode({ host, port });
      const stats = (await node.call("stats")).map((line) => line.split(" "));
      node.close();
      for (const [, name = "", value] of stats) {
        if (name === "incr_hits" || name === "incr_misses") add("incr", Number(value));
        else if (/^cmd_(get|set|touch)$/.test(name)) add(name.slice(4), Number(value));
      }
    } else return null;
  }
  return counted;
}

async function commandsPerDecision(
  system: TargetSystem,
  { consume }: Opened,
): Promise<LimiterBehaviour["commands"]> {
  await consume("known");
  const before = await commandsOf(system);
  for (let n = 0; n < DECISIONS; n++) await consume("known");
  const after = await commandsOf(system);
  if (!before || !after) return null;
  const each = Object.entries(after).map(
    ([name, calls]) =>
      [name, Math.round(((calls - (before[name] ?? 0)) / DECISIONS) * 10) / 10] as const,
  );
  return Object.fromEntries(
    each.filter(([, calls]) => calls > 0).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

async function bytesPerKey(system: TargetSystem, { consume }: Opened): Promise<number | null> {
  const used = async () => {
    if (findStore(system.place.store).engine === "resp") await delay(BUFFERS_FREED_MS);
    const readings = await system.session((session) => session.read(findStore(system.place.store)));
    const bytes = readings.flatMap(({ used_memory_bytes }) => used_memory_bytes ?? []);
    return bytes.length === readings.length ? sum(bytes) : null;
  };
  const fill = async (from: number, to: number) => {
    for (let key = from; key < to; key += 100)
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => consume(`user-${100_000 + key + n}`)),
      );
  };
  await fill(0, 1_000);
  const before = await used();
  await fill(1_000, 1_000 + FRESH_KEYS);
  const after = await used();
  if (before === null || after === null) return null;
  return Math.round((after - before) / FRESH_KEYS / 10) * 10;
}

/** Empties the store, its scripts and functions; false where it cannot be emptied. */
async function flush(system: TargetSystem): Promise<boolean> {
  const { place } = system;
  const { engine } = findStore(place.store);
  if (engine !== "resp" && engine !== "memcached") return false;
  await system.session((session) => session.reset(performance.now() + RECOVERY_MS));
  if (engine === "resp") {
    for (const { host, port } of place.nodes) {
      const node = new Redis(port, host, { lazyConnect: true });
      await node.connect();
      await node.call("SCRIPT", "FLUSH");
      await node.call("FUNCTION", "FLUSH");
      node.disconnect();
    }
  }
  return true;
}

/** The target in a cluster, where it runs in one. */
function inCluster(target: Target): Target | undefined {
  const options = target.options.map((id) => `+${id}`).join("");
  const [found] = ["cluster-3", "cluster"].flatMap((topology) =>
    resolved(`${target.client}@${target.store}:${topology}${options}`),
  );
  return found;
}

async function isExactInCluster(target: Target): Promise<boolean | null> {
  const clustered = inCluster(target);
  if (!clustered) return null;
  const system = await TargetSystem.start(clustered, limitsOf(QUOTA));
  try {
    return await withClients(clustered, system, QUOTA, 2, async (opened) => {
      const keys = Array.from({ length: 12 }, (_, n) => `key-${n}`);
      // One after the other: what concurrency does is another fact.
      const counts = await Promise.all(
        keys.map(async (key) => {
          const decisions: Decision[] = [];
          for (let n = 0; n < 2 * QUOTA; n++)
            decisions.push(await (opened[n % opened.length] as Opened).consume(key));
          return admitted(decisions);
        }),
      );
      return counts.every((count) => count === QUOTA);
    });
  } finally {
    await system.stop();
  }
}

/**
 * Of the store; empty where it does not tell. A client of a service asks only that, which does not
 * know.
 */
async function storeVersion(system: TargetSystem, { client }: Opened): Promise<string> {
  const told = await client.storeVersion().catch(() => undefined);
  if (told) return told;
  const [first] = await system.session((session) => session.read(findStore(system.place.store)));
  return first?.version || programVersion(system.place.store);
}

/** Of the library, else of the module in the store or of the service; empty where none tells it. */
async function limiterVersion(
  target: Target,
  system: TargetSystem,
  { version }: Opened,
): Promise<string> {
  if (version) return version;
  if (target.service) return `${target.service} ${await programVersion(target.service)}`.trim();
  if (!target.module) return "";
  const loaded = await system.session(async (session) => session.modules?.());
  // Builds of one version differ, and the version of most modules is a number that never changes.
  const sha256 = await sha256Of(process.env[findModule(target.module).variable] ?? "");
  return [target.module, loaded?.[target.module], `(sha256 ${sha256.slice(0, 12)}…)`]
    .filter(Boolean)
    .join(" ");
}

/**
 * Runs a target's limiter on real systems and writes down what it does.
 * @throws Error where something is missing, see `missingFor`
 */
export async function findBehaviour(target: Target): Promise<LimiterBehaviour> {
  const system = await TargetSystem.start(target, limitsOf(QUOTA));
  let atomic: boolean;
  let bytes_per_key: number | null = null;
  let survives_flush: boolean | null = null;
  let survives_restart: boolean | null = null;
  let tried: LimiterBehaviour["tried"];
  try {
    [atomic, tried] = await withClients(
      target,
      system,
      QUOTA,
      usesStore(target) ? 2 : 1,
      async (opened) => {
        const isAtomic = await neverExceedsQuota(opened);
        if (usesStore(target)) bytes_per_key = await bytesPerKey(system, opened[0]);
        const version = usesStore(target) ? await storeVersion(system, opened[0]) : "";
        const limiter = await limiterVersion(target, system, opened[0]);
        return [
          isAtomic,
          {
            date: new Date().toISOString().slice(0, 10),
            ...(usesStore(target) ? { store: `${target.store} ${version ?? ""}`.trim() } : {}),
            ...(opened[0].client.version ? { client: opened[0].client.version } : {}),
            ...(limiter ? { limiter } : {}),
          },
        ];
      },
    );
  } finally {
    await system.stop();
  }
  const generous = await TargetSystem.start(target, limitsOf(GENEROUS));
  let commands: LimiterBehaviour["commands"] = null;
  try {
    await withClients(target, generous, GENEROUS, 1, async ([opened]) => {
      if (!usesStore(target)) return;
      commands = await commandsPerDecision(generous, opened);
      if (await flush(generous)) survives_flush = await decidesAgain(opened);
      await generous.kill();
      await generous.run();
      survives_restart = await decidesAgain(opened);
    });
  } finally {
    await generous.stop();
  }
  const cluster = await isExactInCluster(target);
  return {
    target: target.text,
    atomic,
    survives_restart,
    survives_flush,
    cluster,
    commands,
    bytes_per_key,
    tried,
  };
}
