import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { BenchError, messageOf } from "../../contract/errors.js";
import { decodePlugins } from "../../contract/plugins.js";
import { loadPlugins } from "../../plugins/load.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { findProfile } from "../../traffic/lookup.js";
import { openTraffic } from "../../traffic/streams.js";
import { ClosedLoop } from "../autocannon.js";
import type { OpenChannel } from "../drivers/channel.js";
import { requestSources } from "../drivers/http.js";
import { httpChannels } from "../drivers/http-channel.js";
import { startLoopbackServer } from "../drivers/loopback-server.js";
import type { Extent, LoadLoop } from "../load-loop.js";
import { cpuWaitMs } from "../measurement/clock.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { OpenLoop } from "../open-loop/open-loop.js";
import { streamOfShare } from "../open-loop/schedule.js";
import type { Command, Measured, Reply, WorkerAssignment } from "./protocol.js";

/** A thread of the load generator. It drives its share of the connections and, in an open loop, of the schedule. */
const assignment = workerData as WorkerAssignment;
const port = parentPort;
if (!port) throw new Error("worker.js runs in a worker thread only");
const post = (reply: Reply): void => port.postMessage(reply);

function closedLoop({ url, traffic, seed, timeoutS, ...own }: WorkerAssignment): LoadLoop {
  const endpoint = new URL(url);
  const share = { connections: own.allConnections, first: own.firstConnection, count: own.connections };
  const { requests, streams } = openTraffic(findProfile(traffic), seed, share);
  const sources = requestSources(endpoint, requests, streams, own.firstConnection);
  return new ClosedLoop({ url: endpoint, sources, timeoutS });
}

const LOOPBACK_CONNECTIONS = 8;

function openLoop(
  open: NonNullable<WorkerAssignment["open"]>,
  { url, traffic, seed, timeoutS, index, of, ...own }: WorkerAssignment,
): LoadLoop {
  const endpoint = new URL(url);
  const share = { ...open, seed, index, of };
  const channelsTo = (address: URL, connections: number): OpenChannel => {
    const whole = openTraffic(findProfile(traffic), seed, { connections: 1, first: 0, count: 1 });
    // One stream for all connections: the schedule decides what is sent, not which connection happens to be free.
    const streams = whole.streams.map((stream) => streamOfShare(stream, share));
    const each = Array.from({ length: connections }, () => streams).flat();
    return httpChannels(address, requestSources(address, whole.requests, each, own.firstConnection));
  };
  return new OpenLoop({
    share,
    connections: own.connections,
    openChannel: channelsTo(endpoint, own.connections),
    startLoopbackServer: () =>
      startLoopbackServer((address) => channelsTo(address, LOOPBACK_CONNECTIONS), LOOPBACK_CONNECTIONS),
    timeoutS,
    host: endpoint.host,
  });
}

// A thread loads its own modules, so it has to register the plugins again.
registerTraffic(await loadPlugins(decodePlugins(process.env)));
const loop = assignment.open ? openLoop(assignment.open, assignment) : closedLoop(assignment);

const clampShare = (value: number): number => Math.min(1, Math.max(0, value));

/** How busy this thread was since the last call. */
function utilisationMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return clampShare(utilization);
  };
}

async function measure(extent: Extent, opens_ms: number): Promise<Measured> {
  const before = performance.eventLoopUtilization();
  const waitedBefore = cpuWaitMs();
  const busySinceLast = utilisationMeter();
  let inWindow = before;
  let waited = waitedBefore;
  const listener = {
    sample: (sample: WorkerSample) =>
      post({ reply: "sample", sample: { ...sample, event_loop_utilisation: busySinceLast() } }),
    closed() {
      inWindow = performance.eventLoopUtilization(before);
      waited = cpuWaitMs();
    },
  };
  const window = await loop.measure(extent, listener, opens_ms);
  return {
    ...window,
    event_loop_utilisation: clampShare(inWindow.utilization),
    ...(waited === undefined || waitedBefore === undefined
      ? {}
      : { cpu_wait_share: clampShare((waited - waitedBefore) / (window.closed_ms - window.opened_ms)) }),
  };
}

async function execute(command: Command): Promise<Reply> {
  switch (command.command) {
    case "connect":
      await loop.connected();
      return { reply: "connect" };
    case "warmUp":
      await loop.warmUp(command.durationS);
      return { reply: "warmUp" };
    case "measure":
      return { reply: "measure", measured: await measure(command.extent, command.opens_ms) };
    case "stop":
      await loop.stop();
      port?.close();
      return { reply: "stop" };
  }
}

port.on("message", (command: Command) => {
  execute(command).then(
    (reply) => post(reply),
    (error: unknown) =>
      post({
        reply: "error",
        message: messageOf(error),
        ...(error instanceof BenchError ? { exitCode: error.exitCode } : {}),
      }),
  );
});
