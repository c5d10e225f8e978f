import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { HostCpu } from "../../../../src/machine/cpu-time.js";
import { CounterWatch } from "../../../../src/orchestrator/run/counter-watch.js";
import type { RunningRole } from "../../../../src/orchestrator/run/part-supervisor.js";
import type { RunDelays } from "../../../../src/runtimes/run-delay.js";
import type { RunningPart } from "../../../../src/runtimes/runtime-types.js";

/** CPU time and the run delays of threads at each reading, in order. */
interface Told {
  cpu_us: readonly number[];
  delays?: readonly Record<string, number>[];
  onThisMachine?: boolean;
  machine?: string;
}

/** A role whose counters say what they are told to say. */
function role(
  kind: RunningRole["kind"],
  number: number,
  { cpu_us, delays = [], onThisMachine = true, machine }: Told,
): RunningRole {
  const figures = [...cpu_us];
  const threads = [...delays];
  const part = {
    onThisMachine,
    ...(machine === undefined ? {} : { machine }),
    async counters() {
      const next = figures.shift();
      if (next === undefined) throw new Error("it has ended");
      return { cpu_us: next, resident_bytes: 1 };
    },
    async runDelays(): Promise<RunDelays | undefined> {
      const next = threads.shift();
      const times = (delay_us: number) => ({ cpu_us: 0, delay_us });
      return next && new Map(Object.entries(next).map(([id, delay_us]) => [id, times(delay_us)]));
    },
  } as Partial<RunningPart> as RunningPart;
  return { id: `${kind}-${number}`, kind, part };
}

/** Two CPUs whose idle time between two readings, 10 s apart, is this. */
function host(idle_us: number): () => HostCpu {
  const at = (at_ms: number, idle_us: number): HostCpu => ({
    at_ms,
    cpus: 2,
    idle_us,
    stolen_us: 0,
    interrupts_us: 0,
    accounted_us: 2_000 * at_ms,
  });
  const readings = [at(0, 0), at(10_000, idle_us)];
  return () => readings.shift() ?? at(0, 0);
}

const WINDOW_S = 8;

async function watched(
  parts: readonly RunningRole[],
  idle_us = 10_000_000,
  elsewhere_us = 0,
  told = {},
) {
  const watch = new CounterWatch(parts, host(idle_us));
  watch.start();
  watch.stop();
  const resources = await watch.resources("test", WINDOW_S, 1_000);
  return { resources, load: await watch.hostLoad(WINDOW_S, told, elsewhere_us) };
}

describe("counters at the two ends of a window", () => {
  test("give each role its run delay, and none where the system does not count it", async () => {
    const server = { cpu_us: [0, 4_000_000], delays: [{ "1": 100, "2": 9 }, { "1": 350 }] };
    const { resources } = await watched([
      role("server", 1, server),
      role("generator", 1, { cpu_us: [0, 2_000_000] }),
    ]);
    const expected = {
      kind: "server",
      cpu_us: 4_000_000,
      cpu_us_per_request: 4_000,
      run_delay_us: 250,
    };
    expect(resources["server-1"]).toMatchObject(expected);
    expect(resources["generator-1"]).not.toHaveProperty("run_delay_us");
  });

  test("subtract the CPU time of roles, harness and an external store from that of the machine", async () => {
    const roles = () => [
      role("server", 1, { cpu_us: [1_000, 4_001_000] }),
      role("store", 1, { cpu_us: [5_000, 1_005_000] }),
    ];
    const { load } = await watched(roles());
    // 10 s of 20 were busy, 5 of them with ours; reading itself takes this process some
    // milliseconds.
    expect(load?.foreign_cpu_percent).toBeGreaterThan(45);
    expect(load?.foreign_cpu_percent).toBeLessThanOrEqual(50);
    const elsewhere = (await watched(roles(), 10_000_000, 3_000_000)).load;
    expect(elsewhere?.foreign_cpu_percent).toBeLessThanOrEqual(20);
    expect(load?.cpus).toBe(2);
  });

  test("use a role's own report where it ended before it could be read", async () => {
    const ended = [
      role("server", 1, { cpu_us: [0, 4_000_000] }),
      role("generator", 1, { cpu_us: [0] }),
    ];
    const told = { "generator-1": { cpu_us: 3_000_000 }, "server-1": { cpu_us: 1 } };
    const { load } = await watched(ended, 10_000_000, 0, told);
    expect(load?.foreign_cpu_percent).toBeGreaterThan(25);
    expect(load?.foreign_cpu_percent).toBeLessThanOrEqual(30);
  });

  test("that hang are a failure after ten seconds, and hold up nothing for longer", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const hung = role("server", 1, { cpu_us: [] });
    hung.part.counters = () => new Promise(() => {});
    const watch = new CounterWatch([hung], host(0));
    const started = watch.start();
    const stopped = watch.stop();
    await vi.advanceTimersByTimeAsync(25_000);
    await Promise.all([started, stopped]);
    expect(watch.failures[0]).toContain("counters of server-1 could not be read");
  });

  test("by turns are read between turns too; a second is one of the role's own turns, without its idle use", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    // In the second without load it uses 10 ms; in each 4 s then, of which it has 1 s itself, 530
    // ms.
    const store = role("store", 1, { cpu_us: [0, 530_000, 1_060_000] });
    const used = [0, 10_000];
    store.part.runDelays = async () => new Map([["1", { cpu_us: used.shift() ?? 0, delay_us: 0 }]]);
    const watch = new CounterWatch([store], host(0));
    const started = watch.startByTurns();
    await vi.advanceTimersByTimeAsync(1_000);
    await started;
    await vi.advanceTimersByTimeAsync(4_000);
    await watch.readBetweenTurns();
    await vi.advanceTimersByTimeAsync(4_000);
    await watch.stop();
    const { "store-1": figures } = await watch.resources("test", 2, 1_000);
    expect(figures).toMatchObject({ cpu_us: 1_000_000, cpu_percent: 50, idle_us: 60_000 });
    expect(figures?.samples).toMatchObject([
      { t_s: 1, cpu_percent: 50 },
      { t_s: 2, cpu_percent: 50 },
    ]);
  });

  test("around long turns give the role's CPU time in those of its own target, without its idle use", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    // In 9 s of long turns, of which it has 3 s itself, it uses 2.06 s; without load 10 ms a second.
    const store = role("store", 1, { cpu_us: [1_000_000, 3_060_000, 3_060_000, 4_000_000] });
    const used = [0, 10_000];
    store.part.runDelays = async () => new Map([["1", { cpu_us: used.shift() ?? 0, delay_us: 0 }]]);
    const watch = new CounterWatch([store], host(0));
    await watch.readBeforeLongTurns();
    await vi.advanceTimersByTimeAsync(9_000);
    const started = watch.startByTurns();
    await vi.advanceTimersByTimeAsync(1_000);
    await started;
    await watch.stop();
    const inLongTurns = await watch.resources("test", 2, 1_000, 3);
    expect(inLongTurns["store-1"]?.long_turns_cpu_us).toBe(2_000_000);
    const withoutLongTurns = await watch.resources("test", 2, 1_000);
    expect(withoutLongTurns["store-1"]?.long_turns_cpu_us).toBeUndefined();
  });

  test.each([
    ["was not read at the end", { cpu_us: [0] }],
    ["runs in a virtual machine", { cpu_us: [0, 1], onThisMachine: false }],
  ])("give no load of the machine where a part %s", async (_why, told) => {
    expect((await watched([role("server", 1, told)])).load).toBeUndefined();
  });
});

describe("several machines", () => {
  const MB = 1_000_000;
  /** Two CPUs that idle so long in 10 s, and a network that receives 30 MB. */
  const readings = (idle_us: Readonly<Record<string, number>>) => {
    const reads = [0, 1];
    return async () => {
      const read = reads.shift() ?? 1;
      return Object.fromEntries(
        Object.entries(idle_us).map(([name, idle]) => [
          name,
          {
            cpu: {
              at_ms: 5_000 + 10_000 * read,
              cpus: 2,
              idle_us: read * idle,
              stolen_us: 0,
              interrupts_us: 0,
              accounted_us: 20 * MB * read,
            },
            network: { received_bytes: 30 * MB * read, sent_bytes: MB * read },
          },
        ]),
      );
    };
  };
  const parts = () => [
    role("generator", 1, { cpu_us: [0, 4 * MB], machine: "a", onThisMachine: false }),
    role("server", 1, { cpu_us: [0, 6 * MB], machine: "b", onThisMachine: false }),
  ];
  async function loads(
    idle_us: Readonly<Record<string, number>>,
    oneComputer: boolean,
    roles = parts(),
  ) {
    const machines = {
      counters: readings(idle_us),
      computerOf: (name: string) => (oneComputer ? ["a", "b"] : [name]),
      isHere: () => false,
    };
    const watch = new CounterWatch(roles, () => undefined, machines);
    watch.start();
    watch.stop();
    return watch.machineLoads(WINDOW_S, {});
  }

  test("each have the roles that run on them, and other programs", async () => {
    const found = await loads({ a: 15 * MB, b: 10 * MB }, false);
    // On a 5 of 20 s were used: 4 by the generator in 8 s of load, 1 by others in 10 s.
    expect(found).toEqual({
      a: {
        cpus: 2,
        busy_cpu_percent: 60,
        foreign_cpu_percent: 10,
        network: { received_bytes: 30 * MB, sent_bytes: MB },
      },
      b: expect.objectContaining({ busy_cpu_percent: 115, foreign_cpu_percent: 40 }),
    });
  });

  test("that are one computer share its roles: those of the other one are no other programs", async () => {
    const { a } = await loads({ a: 10 * MB, b: 10 * MB }, true);
    expect(a?.foreign_cpu_percent).toBe(0);
  });
});
