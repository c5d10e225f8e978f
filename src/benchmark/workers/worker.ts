import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { BenchError, messageOf } from "../../contract/errors.js";
import { loadPlugins } from "../../plugins/load.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { mostRequests } from "../../traffic/boundary.js";
import { findProfile } from "../../traffic/lookup.js";
import { openTraffic } from "../../traffic/streams.js";
import { ClosedLoop } from "../closed-loop.js";
import { ChannelConnections } from "../drivers/channel-connections.js";
import type { ChannelRequests, OpenDriver } from "../drivers/driver.js";
import { loadDriver } from "../drivers/index.js";
import type { LoadLoop } from "../load-loop.js";
import { cpuWaitMs } from "../measurement/clock.js";
import { DecisionLog } from "../measurement/decision-log.js";
import { garbageCollectorFor } from "../measurement/garbage.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { RequestCounts } from "../measurement/request-counts.js";
import { OpenLoop } from "../open-loop/open-loop.js";
import { type OpenLoad, streamOfShare } from "../open-loop/schedule.js";
import type { WarmupFacts, WarmupSlice } from "../warmup.js";
import type {
  Command,
  EndWarmUp,
  Measured,
  Reply,
  WorkerAssignment,
  WorkerReading,
  WorkerWindow,
} from "./protocol.js";

/** A thread of the load generator. It drives its share of the connections and, in an open loop, of the schedule. */
const assignment = workerData as WorkerAssignment;
const port = parentPort;
if (!port) throw new Error("worker.js runs in a worker thread only");
const post = (reply: Reply): void => port.postMessage(reply);

const { spec } = assignment;
const { generator } = spec;
// A thread loads its own modules, so it has to register the plugins again.
const plugins = await loadPlugins(spec.plugins);
registerTraffic(plugins);
const driver = await loadDriver(generator.layer);

const profile = findProfile(generator.traffic);
const counts = new RequestCounts(profile.population().requests.length);

/** Connections to the loopback, to which an open loop sends before the warm-up. */
const LOOPBACK_CONNECTIONS = 8;

function closedLoop(opened: OpenDriver): LoadLoop {
  const { firstConnection: first, connections } = assignment;
  const share = { connections: generator.load.connections, first, count: connections };
  const requests = { ...openTraffic(profile, generator.seed, share), first, counts };
  const timeoutS = generator.timeout_s;
  const own = opened.closedConnections?.(requests);
  const closed =
    own ??
    new ChannelConnections({
      connections,
      openChannel: opened.openChannels(requests),
      timeoutS,
      endpoint: driver.endpoint(spec),
    });
  return new ClosedLoop(closed, driver.codeText);
}

/** Every request, where the quota binds; set by the open loop. */
let log: DecisionLog | undefined;

/** A Poisson process sends more than its rate says by chance: of the 15 000 of the smallest run by 4 % at most (5 deviations). */
const ROOM = 1.05;

function openLoop(opened: OpenDriver, load: OpenLoad): LoadLoop {
  const { index, of, firstConnection: first, connections } = assignment;
  const share = { ...load, seed: generator.seed, index, of };
  const requestsOf = (count: number): ChannelRequests => {
    const one = { connections: 1, first: 0, count: 1 };
    const whole = openTraffic(profile, generator.seed, one, spec.limits);
    // One stream for all connections: the schedule decides what is sent, not which connection happens to be free.
    const streams = whole.streams.map((stream) => streamOfShare(stream, share));
    return {
      requests: whole.requests,
      streams: Array.from({ length: count }, () => streams).flat(),
      first,
    };
  };
  if (profile.binding) {
    const most = mostRequests(load.rate_per_second, generator.extent, generator.warmup_s);
    log = new DecisionLog(Math.ceil((most / of) * ROOM) + connections);
  }
  return new OpenLoop({
    share,
    connections,
    openChannel: opened.openChannels({ ...requestsOf(connections), counts, ...(log ? { log } : {}) }),
    async startLoopback() {
      const loopback = await opened.startLoopback();
      const openChannel = loopback.openChannels(requestsOf(LOOPBACK_CONNECTIONS));
      return { connections: LOOPBACK_CONNECTIONS, openChannel, close: () => loopback.close() };
    },
    timeoutS: generator.timeout_s,
    endpoint: driver.endpoint(spec),
    codeText: driver.codeText,
  });
}

/** Set by the first command, because only a reply to a command carries an exit code. */
let connected: { opened: OpenDriver; loop: LoadLoop } | undefined;

async function connect(): Promise<void> {
  const opened = await driver.open(spec, plugins);
  const { load } = generator;
  const loop = load.model === "open" ? openLoop(opened, load) : closedLoop(opened);
  connected = { opened, loop };
  await loop.connected();
}

/** @throws Error before the first command */
function inUse(): NonNullable<typeof connected> {
  if (!connected) throw new Error("the worker is not connected");
  return connected;
}

const collectGarbage = garbageCollectorFor(spec);

function read(): WorkerReading {
  const report = inUse().opened.limiterReport?.();
  if (!report) throw new Error(`the driver ${driver.id} does not call the limiter itself`);
  const { active, idle } = performance.eventLoopUtilization();
  collectGarbage();
  return {
    ...report,
    heap_used_bytes: getHeapStatistics().used_heap_size,
    event_loop_active_ms: active,
    event_loop_idle_ms: idle,
  };
}

let warmUpEnd = new AbortController();

function warmUp(atMostS: number): Promise<WarmupFacts> {
  warmUpEnd = new AbortController();
  const onSlice = (slice: WarmupSlice) => post({ reply: "warmUpSlice", slice });
  return inUse().loop.warmUp(atMostS, onSlice, warmUpEnd.signal);
}

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

async function measure({ shared_wakes, ...plan }: WorkerWindow): Promise<Measured> {
  let before = performance.eventLoopUtilization();
  let waitedBefore = cpuWaitMs();
  let busySinceLast = utilisationMeter();
  let inWindow = before;
  let waited = waitedBefore;
  const listener = {
    opened() {
      before = performance.eventLoopUtilization();
      waitedBefore = cpuWaitMs();
      busySinceLast = utilisationMeter();
    },
    sample: (sample: WorkerSample) =>
      post({ reply: "sample", sample: { ...sample, event_loop_utilisation: busySinceLast() } }),
    closed() {
      inWindow = performance.eventLoopUtilization(before);
      waited = cpuWaitMs();
      post({ reply: "closed" });
    },
  };
  const { loop } = inUse();
  loop.shareWakes?.(shared_wakes);
  const window = await loop.measure(plan, listener);
  return {
    ...window,
    event_loop_utilisation: clampShare(inWindow.utilization),
    sent_by_request: counts.sent,
    undecided_by_request: counts.undecided,
    ...(log ? { decisions: log.columns() } : {}),
    ...(waited === undefined || waitedBefore === undefined
      ? {}
      : { cpu_wait_share: clampShare((waited - waitedBefore) / (window.closed_ms - window.opened_ms)) }),
  };
}

async function execute(command: Command): Promise<Reply> {
  switch (command.command) {
    case "connect":
      await connect();
      return { reply: "connect" };
    case "warmUp":
      return { reply: "warmUp", warmup: await warmUp(command.atMostS) };
    case "measure":
      return { reply: "measure", measured: await measure(command) };
    case "read":
      return { reply: "read", reading: read() };
    case "stop":
      await connected?.loop.stop();
      await connected?.opened.close();
      port?.close();
      return { reply: "stop" };
  }
}

port.on("message", (command: Command | EndWarmUp) => {
  if (command.command === "endWarmUp") return warmUpEnd.abort();
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
