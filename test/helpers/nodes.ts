import { onTestFinished } from "vitest";
import { startNodes } from "./cluster.js";
import { runProgram } from "./programs.js";
import { TestStore } from "./store.js";

/** Store nodes that know nothing of each other yet; they end with the test. */
export async function clusterNodes(count: number): Promise<TestStore[]> {
  const nodes = await startNodes(count);
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
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
