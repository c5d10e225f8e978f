import { onTestFinished } from "vitest";
import { freePort } from "../../src/runtimes/local/ports.js";
import { runProgram } from "./programs.js";
import { TestStore } from "./store.js";

/** Store nodes that know nothing of each other yet; they end with the test. */
export async function clusterNodes(count: number): Promise<TestStore[]> {
  const nodes: TestStore[] = [];
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
  });
  for (let n = 0; n < count; n++) {
    const bus = ["--cluster-enabled", "yes", "--cluster-port", String(await freePort())];
    nodes.push(
      await TestStore.start([...bus, "--cluster-node-timeout", "5000", "--repl-diskless-sync-delay", "0"]),
    );
  }
  return nodes;
}

export async function standaloneNode(): Promise<TestStore> {
  const node = await TestStore.start(["--maxmemory", "1gb", "--maxmemory-policy", "volatile-lru"]);
  onTestFinished(() => node.stop());
  return node;
}

export const placesOf = (nodes: readonly TestStore[]): string =>
  nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");

/** Runs the probe with these actions. */
export const probe = (actions: readonly string[], env: Readonly<Record<string, string>>) =>
  runProgram("helpers/probe/index.js", actions, env).ended;
