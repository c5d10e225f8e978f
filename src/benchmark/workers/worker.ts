import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import type { TurnLengths } from "../../contract/turns.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, messageOf } from "../../kit/errors.js";
import { loadPlugins } from "../../plugins/load.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { mostRequests } from "../../traffic/boundary-traffic.js";
import { findProfile } from "../../traffic/lookup.js";
import { openTraffic } from "../../traffic/streams.js";
import type { TrafficProfile } from "../../traffic/traffic-types.js";
import { type ClosedConnections, ClosedLoop } from "../closed-loop.js";
import { ChannelConnections } from "../drivers/connection-pool.js";
import type { ChannelRequests, LimiterReport, OpenDriver } from "../drivers/driver.js";
import { loadDriver } from "../drivers/index.js";
import type { LoadLoop } from "../load-loop.js";
import { cheapMonotonicMs, cpuWaitMs } from "../measurement/clock.js";
import { DecisionLog, RequestCounter } from "../measurement/decision-log.js";
import { garbageCollectorFor } from "../measurement/generator-readings.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { StandstillWatch } from "../measurement/standstill.js";
import { OpenLoop } from "../open-loop/open-loop.js";
import { type OpenLoad, streamOfShare } from "../open-loop/send-schedule.js";
import {
  TurnWindow,
  takeTurns,
  turnsOfASecond,
  turnUnlessOverrun,
  type WorkerUsage,
} from "../turn-window.js";
import type { WarmupLoad } from "../warmup.js";
import {
  type Command,
  type Measured,
  type MeasuredByTurns,
  meetingOf,
  type Reply,
  type RunAssignment,
  type TurnsOfRuns,
  type TurnsWindow,
  type WorkerAssignment,
  type WorkerReading,
  type WorkerWindow,
} from "./protocol.js";

/**
 * This module is a thread of the load generator. It drives its share of the connections and, in an
 * open loop, of the schedule.
 */
const assignment = workerData as WorkerAssignment;
const port = parentPort;
if (!port) throw new Error("worker.js runs in a worker thread only");
const post = (reply: Reply): void => port.postMessage(reply);

/** The layer and the plugins are equal in all runs of a group. */
const [{ spec: first }] = assignment.runs;
// A thread loads its own modules, so it has to register the plugins again.
const plugins = await loadPlugins(first.plugins);
registerTraffic(plugins);
const driver = await loadDriver(first.generator.layer);

const LOOPBACK_CONNECTIONS = 8;

/**
 * Room for the requests that a Poisson process sends beyond its rate by chance. In the smallest
 * run, which has 15 000, these are 4 % at most (5 deviations).
 */
const ROOM = 1.05;

/** The load of this worker on one run. */
class RunLoad {
  readonly counts: RequestCounter;
  readonly #run: RunAssignment;
  readonly #profile: TrafficProfile;
  #opened: OpenDriver | undefined;
  #loop: LoadLoop | undefined;
  #connections: ClosedConnections | undefined;
  /** Every request of the run, where the quota binds. The open loop makes it. */
  log: DecisionLog | undefined;

  constructor(run: RunAssignment) {
    this.#run = run;
    this.#profile = findProfile(run.spec.generator.traffic);
    this.counts = new RequestCounter(this.#profile.population().requests.length);
  }

  /** Connects by a command, because only a reply to a command carries an exit code. */
  async connect(): Promise<void> {
    const { spec } = this.#run;
    const { load } = spec.generator;
    this.#opened = await driver.open(spec, plugins);
    this.#loop =
      load.model === "open" ? this.#openLoop(this.#opened, load) : this.#closedLoop(this.#opened);
    await this.#loop.connected();
  }

  get loop(): LoadLoop {
    if (!this.#loop) throw new Error("the worker is not connected");
    return this.#loop;
  }

  get connections(): ClosedConnections {
    if (!this.#connections) throw new Error("there are no connections of a closed loop");
    return this.#connections;
  }

  limiterReport(): LimiterReport | undefined {
    return this.#opened?.limiterReport?.();
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
    await this.#opened?.close();
  }

  #closedLoop(opened: OpenDriver): LoadLoop {
    const { spec, firstConnection, connections } = this.#run;
    const { generator } = spec;
    const share = {
      connections: generator.load.connections,
      first: firstConnection,
      count: connections,
    };
    const requests = {
      ...openTraffic(this.#profile, generator.seed, share),
      first: firstConnection,
      counts: this.counts,
    };
    this.#connections =
      opened.closedConnections?.(requests) ??
      new ChannelConnections({
        connections,
        openChannel: opened.openChannels(requests),
        timeoutS: generator.timeout_s,
        endpoint: driver.endpoint(spec),
      });

    return new ClosedLoop(this.#connections, driver.codeText);
  }

  #openLoop(opened: OpenDriver, load: OpenLoad): LoadLoop {
    const { index, of } = assignment;
    const { spec, firstConnection, connections } = this.#run;
    const { generator } = spec;
    const times_ms = this.#profile.trace?.times_ms;
    const share = definedOnly({ ...load, seed: generator.seed, index, of, times_ms });
    const requestsOf = (count: number): ChannelRequests => {
      const connection = { connections: 1, first: 0, count: 1 };
      const traffic = openTraffic(this.#profile, generator.seed, connection, spec.limits);
      // All connections share one stream, because the schedule decides what is sent, not which
      // connection happens to be free.
      const streams = traffic.streams.map((stream) => streamOfShare(stream, share));
      return {
        requests: traffic.requests,
        streams: Array.from({ length: count }, () => streams).flat(),
        first: firstConnection,
      };
    };
    if (this.#profile.binding) {
      const maxRequests = mostRequests(load.rate_per_second, generator.extent, generator.warmup_s);
      this.log = new DecisionLog(Math.ceil((maxRequests / of) * ROOM) + connections);
    }
    const { counts, log } = this;
    const requests = requestsOf(connections);

    return new OpenLoop(
      definedOnly({
        share,
        connections,
        openChannel: opened.openChannels(definedOnly({ ...requests, counts, log })),
        // A burst of a key in a trace stays one only if each request keeps its time.
        restarts: load.arrivals === "trace" ? () => requests.streams[0]?.restart?.() : undefined,
        async startLoopback() {
          const loopback = await opened.startLoopback();
          const openChannel = loopback.openChannels(requestsOf(LOOPBACK_CONNECTIONS));
          return { connections: LOOPBACK_CONNECTIONS, openChannel, close: () => loopback.close() };
        },
        timeoutS: generator.timeout_s,
        endpoint: driver.endpoint(spec),
        codeText: driver.codeText,
      }),
    );
  }
}

const runs = assignment.runs.map((run) => new RunLoad(run));
const [only] = runs as [RunLoad];

const collectGarbage = garbageCollectorFor(first);

function read(): WorkerReading {
  const report = only.limiterReport();
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

async function warmUp({
  seconds,
  asClosed,
}: Extract<Command, { command: "warmUp" }>): Promise<WarmupLoad> {
  const { loop } = only;
  return asClosed && loop.warmUpClosed ? loop.warmUpClosed(seconds) : loop.warmUp(seconds);
}

const clampShare = (value: number): number => Math.min(1, Math.max(0, value));

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
      post({
        reply: "sample",
        run: 0,
        sample: { ...sample, event_loop_utilisation: busySinceLast() },
      }),
    closed() {
      inWindow = performance.eventLoopUtilization(before);
      waited = cpuWaitMs();
      post({ reply: "closed" });
    },
  };
  const { loop, counts, log } = only;
  loop.shareWakes?.(shared_wakes);
  const standstill = new StandstillWatch();
  const window = await loop.measure(plan, listener);

  return definedOnly({
    ...window,
    longest_gap_ms: standstill.stop(),
    event_loop_utilisation: clampShare(inWindow.utilization),
    sent_by_request: counts.sent,
    undecided_by_request: counts.undecided,
    decisions: log?.columns(),
    cpu_wait_share:
      waited === undefined || waitedBefore === undefined
        ? undefined
        : clampShare((waited - waitedBefore) / (window.closed_ms - window.opened_ms)),
  });
}

function usage(): WorkerUsage {
  const cpu = process.cpuUsage();
  const { active, idle } = performance.eventLoopUtilization();
  return {
    cpu_us: cpu.user + cpu.system,
    loop_active_ms: active,
    loop_idle_ms: idle,
    waited_ms: cpuWaitMs() ?? Number.NaN,
  };
}

const turnWindow = ({ connections }: RunLoad, { bins_from_ms }: TurnsWindow): TurnWindow =>
  new TurnWindow(connections, driver.codeText, usage, bins_from_ms);

async function byTurns(plan: TurnsOfRuns): Promise<MeasuredByTurns[]> {
  const windows = runs.map((run) => turnWindow(run, plan));
  const taking = windows.filter((_, run) => plan.runs?.includes(run) ?? true);
  const { meet, resumed } = meetingOf(assignment);
  await takeTurns(taking, plan, meet, async (isLast) => {
    if (!plan.counts) return;
    for (const [run, window] of windows.entries())
      post({ reply: "sample", run, sample: window.sample() });
    if (isLast) return;
    post({ reply: "paused" });
    await resumed();
  });
  return windows.map((window, index) => measuredIn(window, plan.lengths, runs[index] ?? only));
}

function measuredIn(
  window: TurnWindow,
  lengths: TurnLengths,
  { counts }: RunLoad,
): MeasuredByTurns {
  const { turns, ...measured } = window.window(lengths);
  return definedOnly({
    ...measured,
    turns,
    event_loop_utilisation: clampShare(turns.utilisation),
    cpu_wait_share:
      turns.waited_ms === undefined ? undefined : clampShare(turns.waited_ms / turns.counted_ms),
    sent_by_request: counts.sent,
    undecided_by_request: counts.undecided,
  });
}

/** The window of the turns that the main thread gives one by one. It is undefined outside of it. */
let windowOfGivenTurns: { window: TurnWindow; lengths: TurnLengths; plan: TurnsWindow } | undefined;

async function takeGivenTurn({
  turn,
  plan,
}: Extract<Command, { command: "turn" }>): Promise<Reply> {
  windowOfGivenTurns ??= { window: turnWindow(only, plan), lengths: turn, plan };
  const { window } = windowOfGivenTurns;
  const before = { cpu_us: usage().cpu_us, requests: requestsSoFar(), at_ms: cheapMonotonicMs() };
  await turnUnlessOverrun(window, turn, plan);
  const took_ms = cheapMonotonicMs() - before.at_ms - turn.lead_in_ms;
  const used = {
    took_ms: Math.max(0, took_ms),
    requests: requestsSoFar() - before.requests,
    cpu_us: usage().cpu_us - before.cpu_us,
  };

  if (plan.counts && window.turns % turnsOfASecond(turn) === 0)
    post({ reply: "sample", run: 0, sample: window.sample() });
  const none = { answers: 0, followed: 0, latency_sum_us: 0 };
  const answers = window.hasLeft ? none : window.lastAnswers(turn);
  return { reply: "turn", turn: { ...answers, ...used } };
}

/** The requests of the only run since its start. */
const requestsSoFar = (): number => only.limiterReport()?.requests ?? 0;

function endGivenTurns(): MeasuredByTurns[] {
  if (!windowOfGivenTurns) return [];
  const { window, lengths, plan } = windowOfGivenTurns;
  windowOfGivenTurns = undefined;
  if (plan.counts && window.turns % turnsOfASecond(lengths) > 0)
    post({ reply: "sample", run: 0, sample: window.sample() });
  return [measuredIn(window, lengths, only)];
}

async function execute(command: Command): Promise<Reply> {
  switch (command.command) {
    case "connect":
      await Promise.all(runs.map((run) => run.connect()));
      return { reply: "connect" };
    case "warmUp":
      return { reply: "warmUp", warmup: await warmUp(command) };
    case "measure":
      return { reply: "measure", measured: await measure(command) };
    case "turns":
      return { reply: "turns", measured: await byTurns(command) };
    case "turn":
      return takeGivenTurn(command);
    case "endTurns":
      return { reply: "turns", measured: endGivenTurns() };
    case "read":
      return { reply: "read", reading: read() };
    case "stop":
      await Promise.all(runs.map((run) => run.stop()));
      port?.close();
      return { reply: "stop" };
  }
}

port.on("message", (command: Command) => {
  execute(command).then(
    (reply) => post(reply),
    (error: unknown) =>
      post(
        definedOnly({
          reply: "error" as const,
          message: messageOf(error),
          exitCode: error instanceof BenchError ? error.exitCode : undefined,
        }),
      ),
  );
});
