import { performance } from "node:perf_hooks";
import { parentPort, workerData } from "node:worker_threads";
import { BenchError, messageOf } from "../contract/errors.js";
import { decodePlugins } from "../contract/plugins.js";
import { addTraffic } from "../plugins/add-traffic.js";
import { loadPlugins } from "../plugins/load.js";
import { findProfile } from "../traffic/find.js";
import { openTraffic } from "../traffic/streams.js";
import { ClosedLoop } from "./autocannon.js";
import { cpuWaitMs } from "./clock.js";
import type { OpenChannel } from "./drivers/channel.js";
import { requestSources } from "./drivers/http.js";
import { httpChannels } from "./drivers/http-channel.js";
import { httpStand } from "./drivers/stand.js";
import type { Engine, Extent } from "./engine.js";
import { OpenLoop } from "./open-loop/loop.js";
import { streamOfShare } from "./open-loop/schedule.js";
import type { Command, Measured, Reply, WorkerAssignment } from "./protocol.js";
import type { WorkerSample } from "./recorder.js";

/** A thread of the load generator: its share of the connections and, in an open loop, of the schedule. */
const assignment = workerData as WorkerAssignment;
const port = parentPort;
if (!port) throw new Error("worker.js runs in a worker thread only");
const say = (reply: Reply): void => port.postMessage(reply);

function closedLoop({ url, traffic, seed, timeoutS, ...own }: WorkerAssignment): Engine {
  const endpoint = new URL(url);
  const share = { connections: own.allConnections, first: own.firstConnection, count: own.connections };
  const { requests, streams } = openTraffic(findProfile(traffic), seed, share);
  const sources = requestSources(endpoint, requests, streams, own.firstConnection);
  return new ClosedLoop({ url: endpoint, sources, timeoutS });
}

const STAND_CONNECTIONS = 8;

function openLoop(
  open: NonNullable<WorkerAssignment["open"]>,
  { url, traffic, seed, timeoutS, index, of, ...own }: WorkerAssignment,
): Engine {
  const endpoint = new URL(url);
  const share = { ...open, seed, index, of };
  const channelsTo = (address: URL, connections: number): OpenChannel => {
    const whole = openTraffic(findProfile(traffic), seed, { connections: 1, first: 0, count: 1 });
    // One stream for all connections: the schedule decides what is sent, not the connection that happens to be free.
    const streams = whole.streams.map((stream) => streamOfShare(stream, share));
    const each = Array.from({ length: connections }, () => streams).flat();
    return httpChannels(address, requestSources(address, whole.requests, each, own.firstConnection));
  };
  return new OpenLoop({
    share,
    connections: own.connections,
    openChannel: channelsTo(endpoint, own.connections),
    openStand: () => httpStand((address) => channelsTo(address, STAND_CONNECTIONS), STAND_CONNECTIONS),
    timeoutS,
    host: endpoint.host,
  });
}

// A thread has modules of its own: what the main thread added is not there.
addTraffic(await loadPlugins(decodePlugins(process.env)));
const loop = assignment.open ? openLoop(assignment.open, assignment) : closedLoop(assignment);

const share = (value: number): number => Math.min(1, Math.max(0, value));

/** How busy this thread was since the last call. */
function utilisationMeter(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return share(utilization);
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
      say({ reply: "sample", sample: { ...sample, event_loop_utilisation: busySinceLast() } }),
    closed() {
      inWindow = performance.eventLoopUtilization(before);
      waited = cpuWaitMs();
    },
  };
  const window = await loop.measure(extent, listener, opens_ms);
  return {
    ...window,
    event_loop_utilisation: share(inWindow.utilization),
    ...(waited === undefined || waitedBefore === undefined
      ? {}
      : { cpu_wait_share: share((waited - waitedBefore) / (window.closed_ms - window.opened_ms)) }),
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
      return { reply: "measure", measured: await measure(command.extent, command.opens_ms) };
    case "stop":
      await loop.stop();
      port?.close();
      return { reply: "stop" };
  }
}

port.on("message", (command: Command) => {
  obey(command).then(
    (reply) => say(reply),
    (error: unknown) =>
      say({
        reply: "error",
        message: messageOf(error),
        ...(error instanceof BenchError ? { exitCode: error.exitCode } : {}),
      }),
  );
});
