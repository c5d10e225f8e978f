import { expect, test } from "vitest";
import type { Fault } from "../../../../src/contract/fault-schemas.js";
import {
  type FaultClock,
  FaultInjection,
} from "../../../../src/orchestrator/run/injected-faults.js";
import type { RunningRole } from "../../../../src/orchestrator/run/part-supervisor.js";
import type { RunStore } from "../../../../src/orchestrator/run/store/run-store.js";
import type { RunningPart } from "../../../../src/runtimes/runtime-types.js";
import { FakeRuntime, partOf } from "../../../helpers/fake-runtime.js";

/** Time that the test moves on. */
class FakeClock implements FaultClock {
  #now_ms = 5_000;
  readonly #sleeps = new Set<{ at_ms: number; wake: () => void }>();
  /** How much later than asked for it wakes the next sleep, as a busy machine may. */
  late_ms = 0;

  now_ms(): number {
    return this.#now_ms;
  }

  until(at_ms: number, signal: AbortSignal): Promise<void> {
    if (at_ms <= this.#now_ms) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#sleeps.add({ at_ms: at_ms + this.late_ms, wake: resolve });
      this.late_ms = 0;
      signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
    });
  }

  /** Wakes in order whoever sleeps until then. */
  async moveTo(ms: number): Promise<void> {
    for (;;) {
      await settled();
      const [next] = [...this.#sleeps]
        .filter(({ at_ms }) => at_ms <= ms)
        .sort((a, b) => a.at_ms - b.at_ms);
      if (!next) break;
      this.#sleeps.delete(next);
      this.#now_ms = next.at_ms;
      next.wake();
    }
    this.#now_ms = ms;
  }
}

/** All that is ready to go on has gone on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const pause: Fault = {
  name: "store-pause",
  action: "pause",
  role: "store-1",
  start_s: 2,
  length_s: 1,
};
const restart: Fault = { action: "restart", role: "server-1", start_s: 4, length_s: 1 };

/** An injection into two fake parts and a store that records what it is asked. */
async function injectionOf(faults: readonly Fault[]) {
  const runtime = new FakeRuntime();
  const clock = new FakeClock();
  const kinds = { "store-1": "store", "server-1": "server" } as const;
  const roles: RunningRole[] = [];
  for (const id of ["store-1", "server-1"] as const)
    roles.push({ id, kind: kinds[id], part: await runtime.start(partOf(id), async () => {}) });
  runtime.calls.length = 0;
  const record = async (text: string) => void runtime.calls.push(text);
  const store = {
    untilReady: () => record("store ready"),
    restarted: (ids: readonly string[]) => record(`restarted ${ids}`),
    withoutNodes: (ids: readonly string[]) => void runtime.calls.push(`without ${ids}`),
    inject: ({ action }: { action: string }) => record(action),
  } as unknown as RunStore;
  const injection = new FaultInjection({
    faults,
    window_s: 10,
    clock,
    log: () => {},
    targetsOf: ({ role }) => ({
      roles: roles.filter(({ id, kind }) => id === role || kind === role),
      store,
      restart: (part: RunningPart) => part.restart?.(async () => {}) ?? Promise.resolve(),
    }),
  });
  return { injection, clock, runtime };
}

test("faults are done and undone at their times after the opening of the window, and recorded", async () => {
  const { injection, clock, runtime } = await injectionOf([pause, restart]);
  await clock.moveTo(7_000);
  expect(runtime.calls).toEqual([]);
  injection.windowOpensIn(1_000);
  await clock.moveTo(9_999);
  expect(runtime.calls).toEqual([]);
  await clock.moveTo(10_000);
  expect(runtime.calls).toEqual(["pause store-1"]);
  await clock.moveTo(20_000);
  expect(runtime.calls).toEqual([
    "pause store-1",
    "resume store-1",
    "kill server-1",
    "restart server-1",
  ]);
  expect(await injection.finish()).toEqual([
    {
      name: "store-pause",
      action: "pause",
      roles: ["store-1"],
      planned: { start_s: 2, length_s: 1 },
      injected: { from_s: 2, to_s: 3 },
      undone: true,
    },
    {
      action: "restart",
      roles: ["server-1"],
      planned: { start_s: 4, length_s: 1 },
      injected: { from_s: 4, to_s: 5 },
      undone: true,
    },
  ]);
  await injection.undoAll();
  expect(runtime.calls).toHaveLength(4);
});

test("the end of a run undoes what is still done, the last first, and does nothing more", async () => {
  const long = { ...restart, start_s: 3, length_s: 5 };
  const faults = [{ ...pause, length_s: 6 }, long, { ...pause, start_s: 9 }];
  const { injection, clock, runtime } = await injectionOf(faults);
  injection.windowOpensIn(0);
  await clock.moveTo(9_000);
  expect(runtime.calls).toEqual(["pause store-1", "kill server-1"]);
  await injection.undoAll();
  expect(runtime.calls.slice(2)).toEqual(["restart server-1", "resume store-1"]);
  await clock.moveTo(60_000);
  expect(runtime.calls).toHaveLength(4);
});

test("a killed primary is not asked again, stays down and needs no undoing", async () => {
  const kill: Fault = { name: "primary-kill", action: "kill", role: "store-1", start_s: 4 };
  const { injection, clock, runtime } = await injectionOf([kill]);
  injection.windowOpensIn(0);
  await clock.moveTo(20_000);
  expect(runtime.calls).toEqual(["store ready", "without store-1", "kill store-1"]);
  const [record] = await injection.finish();
  const done = {
    planned: { start_s: 4, length_s: 6 },
    injected: { from_s: 4, to_s: 10 },
    undone: true,
  };
  expect(record).toMatchObject(done);
});

test("a fault that cannot be done fails the run, and names itself", async () => {
  const { injection, clock, runtime } = await injectionOf([{ ...pause, role: "store" }]);
  runtime.calls.push = () => {
    throw new Error("no permission");
  };
  injection.windowOpensIn(0);
  const failure = expect(injection.failed).rejects.toMatchObject({
    name: "PartFailed",
    role: "store-1",
    message: "store-pause@2s+1s: no permission",
  });
  await clock.moveTo(20_000);
  await failure;
});
