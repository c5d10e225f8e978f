import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import type { TurnLengths } from "../../contract/turns.js";
import { definedOnly } from "../../kit/defined-only.js";
import { BenchError, messageOf } from "../../kit/errors.js";
import { loadPlugins } from "../../plugins/load.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { loadDriver } from "../drivers/index.js";
import { cheapMonotonicMs, cpuWaitMs } from "../measurement/clock.js";
import { garbageCollectorFor } from "../measurement/generator-readings.js";
import type { WorkerSample } from "../measurement/recorder.js";
import { StandstillWatch } from "../measurement/standstill.js";
import { openTurn } from "../open-loop/open-turn.js";
import {
  type TurnFigures,
  TurnWindow,
  takeTurns,
  turnsOfASecond,
  turnUnlessOverrun,
  type WorkerUsage,
} from "../turn-window.js";
import type { WarmupLoad } from "../warmup.js";
import {
  type Command,
  type CurveTurn,
  type Measured,
  type MeasuredByTurns,
  type MeasuredTurn,
  meetingOf,
  type Reply,
  type TurnsOfTargets,
  type TurnsWindow,
  type WorkerAssignment,
  type WorkerReading,
  type WorkerWindow,
} from "./protocol.js";
import { TargetLoad } from "./target-load.js";

/**
 * This module is a thread of the load generator. It drives its share of the connections and, in an
 * open loop, of the schedule.
 */
const assignment = workerData as WorkerAssignment;
const port = parentPort;
if (!port) throw new Error("worker.js runs in a worker thread only");
const post = (reply: Reply): void => port.postMessage(reply);

/** The layer and the plugins are equal in all runs of a group. */
const [[{ spec: first }]] = assignment.targets;
// A thread loads its own modules, so it has to register the plugins again.
const plugins = await loadPlugins(first.plugins);
registerTraffic(plugins);
const driver = await loadDriver(first.generator.layer);

const context = { driver, plugins, index: assignment.index, of: assignment.of };
const targets = assignment.targets.map((runs) => new TargetLoad(runs, context));
const [only] = targets as [TargetLoad];

function targetAt(index: number): TargetLoad {
  const target = targets[index];
  if (!target) throw new Error(`the worker has no target ${index}`);
  return target;
}

/** Connects the targets one after the other where the first open loop compiles for all. */
async function connect(): Promise<void> {
  const [first, ...others] = targets;
  await first?.connect();
  await Promise.all(others.map((target) => target.connect(true)));
}

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
  target,
  seconds,
  asClosed,
}: Extract<Command, { command: "warmUp" }>): Promise<WarmupLoad> {
  const { loop } = targetAt(target);
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
        target: 0,
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

const turnWindow = (
  { connections }: TargetLoad,
  { bins_from_ms }: Pick<TurnsWindow, "bins_from_ms">,
): TurnWindow => new TurnWindow(connections, driver.codeText, usage, bins_from_ms);

async function byTurns(plan: TurnsOfTargets): Promise<MeasuredByTurns[]> {
  const windows = targets.map((target) => turnWindow(target, plan));
  const taking = windows.filter((_, target) => plan.targets?.includes(target) ?? true);
  const { meet, resumed } = meetingOf(assignment);
  await takeTurns(taking, plan, meet, async (isLast) => {
    if (!plan.counts) return;
    for (const [target, window] of windows.entries())
      post({ reply: "sample", target, sample: window.sample() });
    if (isLast) return;
    post({ reply: "paused" });
    await resumed();
  });
  return windows.map((window, index) => measuredIn(window, plan.lengths, targetAt(index)));
}

function measuredIn(window: TurnWindow, lengths: TurnLengths, target: TargetLoad): MeasuredByTurns {
  return withShares(window.window(lengths), target);
}

type TurnOfLoop = Omit<MeasuredTurn, keyof ReturnType<typeof sharesOf>>;

const withShares = <Turn extends TurnOfLoop>(turn: Turn, target: TargetLoad) =>
  definedOnly({ ...turn, ...sharesOf(turn, target) });

/** What a worker adds to the figures of a loop by turns. */
const sharesOf = ({ turns }: { turns: TurnFigures }, { counts }: TargetLoad) => ({
  event_loop_utilisation: clampShare(turns.utilisation),
  cpu_wait_share:
    turns.waited_ms === undefined ? undefined : clampShare(turns.waited_ms / turns.counted_ms),
  sent_by_request: counts.sent,
  undecided_by_request: counts.undecided,
});

/** Gives a run of a load curve its turn, as an open or as a closed loop. */
async function curveTurn(turn: CurveTurn): Promise<MeasuredTurn> {
  const target = targetAt(turn.target);
  const load = target.loadOf(turn.run);
  const sampled = (sample: WorkerSample) => post({ reply: "sample", target: turn.target, sample });
  if (load.model === "open") {
    const measured = await openTurn(target.openLoop, load, turn, usage, sampled);
    return withShares(measured, target);
  }
  const window = turnWindow(target, {});
  await window.turn(turn, turn.spread_ms);
  sampled(window.sample());
  return measuredIn(window, turn, target);
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
    post({ reply: "sample", target: 0, sample: window.sample() });
  const none = { answers: 0, followed: 0, latency_sum_us: 0 };
  const answers = window.hasLeft ? none : window.lastAnswers(turn);
  return { reply: "turn", turn: { ...answers, ...used } };
}

/** The requests of the only target since its start. */
const requestsSoFar = (): number => only.limiterReport()?.requests ?? 0;

function endGivenTurns(): MeasuredByTurns[] {
  if (!windowOfGivenTurns) return [];
  const { window, lengths, plan } = windowOfGivenTurns;
  windowOfGivenTurns = undefined;
  if (plan.counts && window.turns % turnsOfASecond(lengths) > 0)
    post({ reply: "sample", target: 0, sample: window.sample() });
  return [measuredIn(window, lengths, only)];
}

async function execute(command: Command): Promise<Reply> {
  switch (command.command) {
    case "connect":
      await connect();
      return { reply: "connect" };
    case "warmUp":
      return { reply: "warmUp", warmup: await warmUp(command) };
    case "measure":
      return { reply: "measure", measured: await measure(command) };
    case "turns":
      return { reply: "turns", measured: await byTurns(command) };
    case "curveTurn":
      return { reply: "curveTurn", measured: await curveTurn(command) };
    case "turn":
      return takeGivenTurn(command);
    case "endTurns":
      return { reply: "turns", measured: endGivenTurns() };
    case "read":
      return { reply: "read", reading: read() };
    case "stop":
      await Promise.all(targets.map((target) => target.stop()));
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
