import { expect, test } from "vitest";
import type { Load } from "../../../../../src/contract/configuration.js";
import { TURN_BEGINS, TURN_ENDED, type TurnPhase } from "../../../../../src/contract/progress.js";
import type { PartSupervisor } from "../../../../../src/orchestrator/run/part-supervisor.js";
import { CurveLoad } from "../../../../../src/orchestrator/run/rounds/curve-load.js";
import type {
  RoundTarget,
  RunOfTarget,
} from "../../../../../src/orchestrator/run/rounds/round-types.js";
import type { RunStore, StoreMoment } from "../../../../../src/orchestrator/run/store/run-store.js";
import type { RunningPart } from "../../../../../src/runtimes/runtime-types.js";
import { deferred } from "../../../../helpers/fake-runtime.js";

const LOADS: readonly Load[] = [
  { model: "open", rate_per_second: 500, arrivals: "constant", connections: 200 },
  { model: "closed", connections: 50 },
];

/** Lets all that is pending take place. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 10));

/** A round of one target at two loads, with all that happens to it, in order. */
function curve(readMoment?: () => Promise<StoreMoment>) {
  const calls: string[] = [];
  const seconds: string[] = [];
  const cpu_us = new Map<string, number>();
  let say: (line: string) => void = () => {};
  let moments = 0;

  const part = (role: string, onLine: RunningPart["onLine"] = () => {}) =>
    ({
      role,
      onThisMachine: true,
      exited: new Promise<never>(() => {}),
      onLine,
      write: (line: string) => void calls.push(`write ${line}`),
      async counters() {
        calls.push(`CPU of ${role}`);
        return { cpu_us: cpu_us.get(role) ?? 0, resident_bytes: 1 };
      },
      runDelays: async () => undefined,
    }) as Partial<RunningPart> as RunningPart;

  const store = {
    nodes: [{ id: "store-1", kind: "store", part: part("store-1") }],
    readBefore: async () => {},
    readMoment: async () => {
      calls.push("store");
      return readMoment ? readMoment() : { report: {}, requests: ++moments };
    },
    sideBetween: (from: StoreMoment, to: StoreMoment) => ({
      diagnosed: [from.requests, to.requests] as never,
    }),
  } as Partial<RunStore> as RunStore;
  const runs = LOADS.map(
    (load, index) =>
      ({
        settings: { configuration: { load, extent: { duration_s: 2 } }, warmupS: 0 },
        listener: { phase() {}, second: () => void seconds.push(`run ${index}`) },
      }) as unknown as RunOfTarget,
  );
  const target = {
    ...runs[0],
    index: 0,
    runs,
    store,
    servers: [{ id: "server-1", kind: "server", part: part("server-1") }],
    supervisor: { waitFor: (work: Promise<unknown>) => work } as PartSupervisor,
  } as Partial<RoundTarget> as RoundTarget;
  const generator = part("generator-1", (listener) => {
    say = listener;
  });
  const lengths = { lead_in_ms: 200, slice_ms: 2000 };
  const load = new CurveLoad(
    [{ part: generator, targets: [target] }],
    { seed: 1, curve: true, lengths },
    false,
  );
  const announce = async (phase: TurnPhase, run: number): Promise<void> => {
    say(JSON.stringify({ event: "phase", phase, run }));
    await settle();
  };
  return { load, target, calls, seconds, cpu_us, announce, say: (line: string) => say(line) };
}

test("before a turn the store is read and then the CPU, after it the CPU and then the store", async () => {
  const { load, calls, announce } = curve();
  await announce(TURN_BEGINS, 1);
  expect(calls.at(0)).toBe("store");
  expect(calls.at(-1)).toBe("write read");
  expect(calls.slice(1, -1).sort()).toEqual([
    "CPU of generator-1",
    "CPU of server-1",
    "CPU of store-1",
  ]);

  calls.length = 0;
  await announce(TURN_ENDED, 1);
  expect(calls.slice(-2)).toEqual(["store", "write read"]);
  expect(calls.slice(0, -2).sort()).toEqual([
    "CPU of generator-1",
    "CPU of server-1",
    "CPU of store-1",
  ]);
  load.stop();
});

test("the generator goes on only when all is read", async () => {
  const { promise, release } = deferred();
  const { load, calls, announce } = curve(async () => {
    await promise;
    return { report: {}, requests: 0 };
  });
  await announce(TURN_BEGINS, 0);
  expect(calls).toEqual(["store"]);
  release();
  await settle();
  expect(calls.at(-1)).toBe("write read");
  load.stop();
});

test("each run has the CPU time and the readings of its own turn, whatever came between", async () => {
  const { load, target, cpu_us, announce } = curve();
  const turn = async (run: number, used_us: number): Promise<void> => {
    await announce(TURN_BEGINS, run);
    cpu_us.set("server-1", (cpu_us.get("server-1") ?? 0) + used_us);
    await announce(TURN_ENDED, run);
    // A reading of the store, or idling, costs CPU time that belongs to no turn.
    cpu_us.set("server-1", (cpu_us.get("server-1") ?? 0) + 7_000);
  };
  await turn(1, 90_000);
  await turn(0, 3_000);

  const loads = load.loadsOf(target);
  const used = await Promise.all(
    loads.map(async ({ watch }) => (await watch.resources("test", 2, 100))["server-1"]),
  );
  expect(used.map((role) => role?.cpu_us)).toEqual([3_000, 90_000]);
  expect(used.map((role) => role?.cpu_us_per_request)).toEqual([30, 900]);
  for (const role of used) expect(role?.idle_us).toBeUndefined();
  const sides = await Promise.all(loads.map((ofRun) => ofRun.storeSide()));
  expect(sides.map(({ diagnosed }) => diagnosed)).toEqual([
    [3, 4],
    [1, 2],
  ]);
  load.stop();
});

test("a store that cannot be read around a turn fails that run alone, and the generator goes on", async () => {
  let reads = 0;
  const { load, target, calls, announce } = curve(async () => {
    if (reads++ === 1) throw new Error("it is gone");
    return { report: {}, requests: 0 };
  });
  for (const run of [0, 1]) {
    await announce(TURN_BEGINS, run);
    await announce(TURN_ENDED, run);
  }
  expect(calls.filter((call) => call === "write read")).toHaveLength(4);
  const [first, second] = load.loadsOf(target);
  await expect(first?.storeSide()).rejects.toThrow("it is gone");
  await expect(second?.storeSide()).resolves.toBeDefined();
  load.stop();
});

test("a second goes to the run that it is of", () => {
  const { load, seconds, say } = curve();
  say(JSON.stringify({ event: "second", run: 1, t_s: 1, requests_per_second: 5 }));
  expect(seconds).toEqual(["run 1"]);
  load.stop();
});
