import type { StorePlace } from "../../src/targets/types.js";
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

  static async start(kind: StoreKind, topology: string): Promise<StoreSetup> {
    const cluster = topology === "cluster" ? await TestCluster.start(kind) : undefined;
    const nodes = cluster?.nodes ?? [await TestStore.start([], kind)];
    const addresses = nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
    return new StoreSetup({ store: kind, topology, nodes: addresses }, nodes, cluster);
  }

  /** Runs a command on every primary. */
  async call(command: string, ...words: string[]): Promise<unknown[]> {
    return Promise.all(this.primaries.map((node) => node.ask((store) => store.call(command, ...words))));
  }

  /** Script calls of each primary since its statistics were reset, by the command that carried them. */
  scriptCalls(): Promise<Record<"eval" | "evalsha" | "fcall", number>[]> {
    return Promise.all(this.primaries.map((node) => node.scriptCalls()));
  }

  /** All keys in the store, with value and remaining time to live in ms. */
  async keys(): Promise<Map<string, { value: number; ttl_ms: number }>> {
    const found = new Map<string, { value: number; ttl_ms: number }>();
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
