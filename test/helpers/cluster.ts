import { freePort } from "../../src/runtimes/local/ports.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import type { StoreSession } from "../../src/targets/target-types.js";
import { type StoreKind, TestStore } from "./store.js";

const PRIMARIES = 3;
const WITHIN_MS = 120_000;

/** Further arguments of every node, or what makes those of one. */
type NodeArguments = readonly string[] | (() => Promise<readonly string[]>);

/** Nodes that know nothing of each other yet. The caller stops them. */
export async function startNodes(
  count: number,
  kind: StoreKind = "valkey",
  more: NodeArguments = [],
): Promise<TestStore[]> {
  const timing = ["--cluster-node-timeout", "5000", "--repl-diskless-sync-delay", "0"];
  const nodes: TestStore[] = [];
  try {
    while (nodes.length < count) {
      const bus = ["--cluster-enabled", "yes", "--cluster-port", String(await freePort())];
      const nodeArguments = typeof more === "function" ? await more() : more;
      nodes.push(await TestStore.start([...bus, ...timing, ...nodeArguments], kind));
    }
    return nodes;
  } catch (error) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw error;
  }
}

export type ClusterTopology = "cluster" | "cluster-3";

/** Three primaries, with a replica each or alone: as little as tests need. */
export class TestCluster {
  readonly nodes: readonly TestStore[];
  readonly #topology: ClusterTopology;

  private constructor(nodes: readonly TestStore[], topology: ClusterTopology) {
    this.nodes = nodes;
    this.#topology = topology;
  }

  get primaries(): readonly TestStore[] {
    return this.nodes.slice(0, PRIMARIES);
  }

  static async start(
    kind: StoreKind = "valkey",
    more: NodeArguments = [],
    topology: ClusterTopology = "cluster",
  ): Promise<TestCluster> {
    const count = topology === "cluster" ? 2 * PRIMARIES : PRIMARIES;
    const cluster = new TestCluster(await startNodes(count, kind, more), topology);
    try {
      await cluster.#session((session) => session.form(topology, performance.now() + WITHIN_MS));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /**
   * Starts the processes again as the same cluster, empty; resolves once all agree that it works.
   */
  async run(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.run()));
    await this.#session((session) => session.ready(this.#topology, performance.now() + WITHIN_MS));
  }

  /** As campaigns do it. */
  async #session(work: (session: StoreSession) => Promise<void>): Promise<void> {
    const places = this.nodes.map(({ port }) => ({ host: "127.0.0.1", port }));
    const session = await findEngine("resp").connect(places, {});
    await work(session).finally(() => session.close());
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}
