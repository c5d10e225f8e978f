import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { BenchError, messageOf } from "../contract/errors.js";
import { decodePlugins } from "../contract/plugins.js";
import { addTraffic } from "../plugins/add-traffic.js";
import { loadPlugins } from "../plugins/load.js";
import { findProfile } from "../traffic/find.js";
import { openTraffic } from "../traffic/streams.js";
import { ClosedLoop, type Extent } from "./autocannon.js";
import { cpuWaitMs } from "./clock.js";
import { requestSources } from "./drivers/http.js";
import type { Command, Measured, Reply, WorkerAssignment } from "./protocol.js";

/** A thread of the load generator: its share of the connections, in a closed loop. */
const { url, traffic, seed, allConnections, firstConnection, connections, timeoutS } =
  workerData as WorkerAssignment;
const port = parentPort;
if (!port) throw new Error("worker.js runs in a worker thread only");
const say = (reply: Reply): void => port.postMessage(reply);

// A thread has modules of its own: what the main thread added is not there.
addTraffic(await loadPlugins(decodePlugins(process.env)));

const endpoint = new URL(url);
const ownShare = { connections: allConnections, first: firstConnection, count: connections };
const { requests, streams } = openTraffic(findProfile(traffic), seed, ownShare);
const loop = new ClosedLoop({
  url: endpoint,
  sources: requestSources(endpoint, requests, streams, firstConnection),
  timeoutS,
});

const share = (value: number): number => Math.min(1, Math.max(0, value));

async function measure(extent: Extent): Promise<Measured> {
  const before = performance.eventLoopUtilization();
  const waitedBefore = cpuWaitMs();
  let inWindow = before;
  let waited = waitedBefore;
  const window = await loop.measure(extent, (sample) => {
    // The last sample comes when the window closes, so draining is not part of the utilisation.
    inWindow = performance.eventLoopUtilization(before);
    waited = cpuWaitMs();
    say({ reply: "sample", sample });
  });
  const { opened_ms, closed_ms, counts, recorder } = window;
  return {
    opened_ms,
    closed_ms,
    counts,
    event_loop_utilisation: share(inWindow.utilization),
    ...(waited === undefined || waitedBefore === undefined
      ? {}
      : { cpu_wait_share: share((waited - waitedBefore) / (closed_ms - opened_ms)) }),
    histograms: recorder.histograms(),
  };
}

async function obey(command: Command): Promise<Reply> {
  switch (command.command) {
    case "connect":
      await loop.connected();
      return { reply: "connect" };
    case "warmUp":
      await loop.warmUp(command.durationS);
      return { reply: "warmUp" };
    case "measure":
      return { reply: "measure", measured: await measure(command.extent) };
    case "stop":
      await loop.stop();
      port?.close();
      return { reply: "stop" };
  }
}

port.on("message", (command: Command) => {
  obey(command).then(say, (error: unknown) =>
    say({
      reply: "error",
      message: messageOf(error),
      ...(error instanceof BenchError ? { exitCode: error.exitCode } : {}),
    }),
  );
});
