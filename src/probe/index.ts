import { EXIT, type ExitCode, usageError } from "../contract/errors.js";
import { decodeProbeEnv, type ProbeAction, type ProbeEnv, probeActions } from "../contract/probe-env.js";
import { printDocument, runProgram } from "../contract/program.js";
import type { ProbeReport } from "../contract/store.js";
import { findStore, findTopology } from "../targets/resolve.js";
import { clusterLacks, formCluster } from "./cluster.js";
import { discover } from "./discovery.js";
import { type StoreNode, until, withNodes } from "./nodes.js";
import { readNode, readSettings, resetStore } from "./statistics.js";

/**
 * The probe: looks after a store from wherever the store can be reached. It is told where by the environment and
 * what by its arguments, and prints one JSON document.
 */
async function perform(
  action: ProbeAction,
  env: ProbeEnv,
  nodes: readonly StoreNode[],
  deadlineMs: number,
): Promise<ProbeReport> {
  const began = Date.now();
  const elapsed = () => (Date.now() - began) / 1000;
  switch (action) {
    case "discover":
      return { discovered: await discover(nodes) };
    case "form":
      await formCluster(nodes, deadlineMs);
      return { formed_in_s: elapsed() };
    case "ready":
      await until("store", deadlineMs, async () => {
        for (const node of nodes) await node.call("PING");
        return env.topology === "cluster" ? clusterLacks(nodes) : undefined;
      });
      return { ready_in_s: elapsed() };
    case "reset":
      await resetStore(nodes, deadlineMs);
      return { flushed: true };
    case "read":
      return { readings: await Promise.all(nodes.map((node) => readNode(node, env.store))) };
    case "settings":
      return { settings: await readSettings(nodes) };
  }
}

async function main(): Promise<ExitCode> {
  const env = decodeProbeEnv(process.env);
  const actions = process.argv.slice(2).map((word) => {
    const action = probeActions.find((name) => name === word);
    if (action) return action;
    throw usageError(`there is no probe action ${JSON.stringify(word)}; valid: ${probeActions.join(", ")}`);
  });
  findStore(env.store);
  findTopology(env.topology);
  const deadlineMs = Date.now() + env.timeoutS * 1000;
  const report = await withNodes(env.nodes, env.access, async (nodes) => {
    await until("store", deadlineMs, async () => {
      for (const node of nodes) await node.call("PING");
      return undefined;
    });
    let all: ProbeReport = {};
    for (const action of actions) all = { ...all, ...(await perform(action, env, nodes, deadlineMs)) };
    return all;
  });
  await printDocument(report);
  return EXIT.done;
}

runProgram(main);
