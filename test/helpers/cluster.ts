import { freePort } from "../../src/runtimes/local/ports.js";
import { type StoreKind, TestStore, until } from "./store.js";

const PRIMARIES = 3;
const SLOTS = 16_384;

/** Three primaries with a replica each: as little as tests need. */
export class TestCluster {
  readonly nodes: readonly TestStore[];

  private constructor(nodes: readonly TestStore[]) {
    this.nodes = nodes;
  }

  get primaries(): readonly TestStore[] {
    return this.nodes.slice(0, PRIMARIES);
  }

  /** `host:port,…` of all nodes, as the server's environment takes it. */
  get addresses(): string {
    return this.nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");
  }

  /** @param more further arguments of every node, or what makes those of one */
  static async start(
    kind: StoreKind = "valkey",
    more: readonly string[] | (() => Promise<readonly string[]>) = [],
  ): Promise<TestCluster> {
    const nodes: TestStore[] = [];
    try {
      for (let n = 0; n < 2 * PRIMARIES; n++) {
        nodes.push(await startNode(kind, typeof more === "function" ? await more() : more));
      }
      const cluster = new TestCluster(nodes);
      await cluster.#form();
      return cluster;
    } catch (error) {
      await Promise.all(nodes.map((node) => node.stop()));
      throw error;
    }
  }

  async #form(): Promise<void> {
    const [first, ...others] = this.nodes;
    if (!first) throw new Error("a cluster has nodes");
    for (const [n, node] of this.primaries.entries()) {
      const [from, to] = [n, n + 1].map((part) => Math.floor((part * SLOTS) / PRIMARIES));
      await node.ask((store) => store.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(Number(to) - 1)));
    }
    // Gossip can take seconds to reach every pair: every node meets every other at once.
    for (const node of this.nodes) {
      for (const other of others) await meet(node, other);
    }
    const known = (info: string) => info.includes(`cluster_known_nodes:${this.nodes.length}`);
    await until(async () => (await this.#infos()).every(known));
    for (const [n, replica] of this.nodes.slice(PRIMARIES).entries()) {
      const primary = await this.primaries[n]?.ask((store) => store.call("CLUSTER", "MYID"));
      await until(async () => accepts(replica, ["CLUSTER", "REPLICATE", String(primary)]));
    }
    await this.#ready();
  }

  async #ready(): Promise<void> {
    await until(async () => (await this.#infos()).every((info) => info.includes("cluster_state:ok")));
    for (const replica of this.nodes.slice(PRIMARIES)) {
      await until(async () => (await replica.ask((store) => store.info())).includes("master_link_status:up"));
    }
  }

  /** Starts nodes that were killed, again as the same cluster, empty; resolves once all agree that it works. */
  async run(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.run()));
    await this.#ready();
  }

  #infos(): Promise<string[]> {
    return Promise.all(
      this.nodes.map((node) => node.ask(async (store) => String(await store.call("CLUSTER", "INFO")))),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

async function startNode(kind: StoreKind, more: readonly string[]): Promise<TestStore> {
  const busPort = await freePort();
  const bus = ["--cluster-enabled", "yes", "--cluster-port", String(busPort)];
  const timing = ["--cluster-node-timeout", "5000", "--repl-diskless-sync-delay", "0"];
  return TestStore.start([...bus, ...timing, ...more], kind);
}

async function meet(node: TestStore, other: TestStore): Promise<void> {
  const busPort = String(other.nodeArguments[other.nodeArguments.indexOf("--cluster-port") + 1]);
  await node.ask((store) => store.call("CLUSTER", "MEET", "127.0.0.1", String(other.port), busPort));
}

/** Whether a node accepts a command; a replica cannot follow a primary that gossip has not named yet. */
async function accepts(node: TestStore, [command = "", ...words]: readonly string[]): Promise<boolean> {
  try {
    return (await node.ask((store) => store.call(command, ...words))) === "OK";
  } catch (error) {
    if (error instanceof Error && error.message.includes("Unknown node")) return false;
    throw error;
  }
}
