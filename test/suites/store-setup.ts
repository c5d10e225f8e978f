import { findStore } from "../../src/targets/resolve.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import type { StorePlace, StoreSession } from "../../src/targets/target-types.js";
import { TestCluster } from "../helpers/cluster.js";
import { type StoreKind, TestStore } from "../helpers/store.js";

/** A real store of a kind and topology on which clients are tested. */
export class StoreSetup {
  readonly place: StorePlace;
  readonly nodes: readonly TestStore[];
  /** The nodes that accept writes. */
  readonly primaries: readonly TestStore[];
  readonly #cluster: TestCluster | undefined;

  private constructor(place: StorePlace, nodes: readonly TestStore[], cluster?: TestCluster) {
    this.place = place;
    this.nodes = nodes;
    this.primaries = cluster?.primaries ?? nodes;
    this.#cluster = cluster;
  }

  /** @param more arguments of each node's program */
  static async start(
    kind: StoreKind,
    topology: string,
    more: readonly string[] = [],
  ): Promise<StoreSetup> {
    const cluster =
      topology === "cluster" || topology === "cluster-3"
        ? await TestCluster.start(kind, more, topology)
        : undefined;
    const nodes = cluster?.nodes ?? [await TestStore.start(more, kind)];
    const addresses = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
    return new StoreSetup({ store: kind, topology, nodes: addresses }, nodes, cluster);
  }

  /** Whether clients run scripts in it. */
  get hasScripts(): boolean {
    return this.place.store !== "memcached";
  }

  /** Empties it and resets its statistics. */
  async reset(): Promise<void> {
    if (this.hasScripts) {
      await this.call("FLUSHALL");
      await this.call("CONFIG", "RESETSTAT");
    } else await this.#session((session) => session.reset(performance.now() + 120_000));
  }

  async #session<Result>(work: (session: StoreSession) => Promise<Result>): Promise<Result> {
    const session = await findEngine("memcached").connect(this.place.nodes, {});
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }

  /** Decisions that each primary counted since its statistics were reset. */
  async decisions(): Promise<number[]> {
    if (this.hasScripts)
      return (await this.scriptCalls()).map((node) => node.eval + node.evalsha + node.fcall);
    const readings = await this.#session((session) => session.read(findStore("memcached")));
    return readings.map(({ decisions = Number.NaN }) => decisions);
  }

  /** The version as each primary reports it. */
  async version(): Promise<string> {
    const [first] = this.primaries;
    if (!first) return "";
    if (!this.hasScripts) return ((await first.tell("version"))[0] ?? "").replace("VERSION ", "");
    const info = await first.ask((store) => store.info("server"));
    return new RegExp(`^${first.kind}_version:(\\S+)`, "m").exec(info)?.[1] ?? "";
  }

  /** Connections to each primary, without the one that asks. */
  async connections(): Promise<number[]> {
    if (this.hasScripts) {
      const infos = await Promise.all(
        this.primaries.map((node) => node.ask((store) => store.info("clients"))),
      );
      return infos.map((info) => Number(/connected_clients:(\d+)/.exec(info)?.[1]) - 1);
    }
    const stats = await this.primaries[0]?.tell("stats conns");
    // One line per connection, and one for the socket that listens.
    return [(stats ?? []).filter((line) => /:state conn_(?!listening)/.test(line)).length - 1];
  }

  /** Runs a command on every primary; not for memcached. */
  async call(command: string, ...words: string[]): Promise<unknown[]> {
    return Promise.all(
      this.primaries.map((node) => node.ask((store) => store.call(command, ...words))),
    );
  }

  /**
   * Script calls of each primary since its statistics were reset, by the command that carried them.
   */
  scriptCalls(): Promise<Record<"eval" | "evalsha" | "fcall", number>[]> {
    return Promise.all(this.primaries.map((node) => node.scriptCalls()));
  }

  /** All keys of the limiter in the store, with value and remaining time to live in ms. */
  async keys(): Promise<Map<string, { value: number; ttl_ms: number }>> {
    const found = new Map<string, { value: number; ttl_ms: number }>();
    if (!this.hasScripts) {
      const [node] = this.primaries;
      for (const line of (await node?.tell("lru_crawler metadump all")) ?? []) {
        const { key, exp } = /^key=(?<key>\S+) exp=(?<exp>\d+)/.exec(line)?.groups ?? {};
        // Beside each counter there is an item with its expiry.
        if (!key || !exp || key.endsWith("_expire")) continue;
        const name = decodeURIComponent(key);
        const value = Number((await node?.tell(`get ${name}`))?.[1]);
        found.set(name, { value, ttl_ms: 1_000 * Number(exp) - Date.now() });
      }
      return found;
    }
    for (const node of this.primaries) {
      await node.ask(async (store) => {
        for (const key of await store.keys("*")) {
          found.set(key, { value: Number(await store.get(key)), ttl_ms: await store.pttl(key) });
        }
      });
    }
    return found;
  }

  pause(): void {
    for (const node of this.nodes) node.pause();
  }

  resume(): void {
    for (const node of this.nodes) node.resume();
  }

  async kill(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  /** Starts it again, empty, on the same addresses. */
  async run(): Promise<void> {
    if (this.#cluster) await this.#cluster.run();
    else await this.nodes[0]?.run();
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
