import { describe, expect, test } from "vitest";
import { type RoleKind, roleId } from "../../../../src/contract/role.js";
import { EXIT, environmentError } from "../../../../src/kit/errors.js";
import type { Role } from "../../../../src/orchestrator/run/layout.js";
import {
  PartFailed,
  PartSupervisor,
  withTroubles,
} from "../../../../src/orchestrator/run/part-supervisor.js";
import type { RunningPart } from "../../../../src/runtimes/runtime-types.js";
import { deferred, FakeRuntime, partOf } from "../../../helpers/fake-runtime.js";

const role = (kind: RoleKind, number: number, ...dependsOn: string[]): Role => {
  const id = roleId(kind, number);
  return { id, kind, dependsOn, required: kind !== "generator", part: () => partOf(id) };
};

/** Listed against the order in which they can start. */
const ROLES = [
  role("generator", 1, "server-1", "server-2"),
  role("server", 2, "store-1", "store-2"),
  role("server", 1, "store-1", "store-2"),
  role("store", 1),
  role("store", 2),
];

function supervised(roles: readonly Role[] = ROLES) {
  const runtime = new FakeRuntime();
  const started: RunningPart[] = [];
  const supervisor = new PartSupervisor(roles, async (part) => {
    const running = await runtime.start(part, async () => {});
    started.push(running);
    return running;
  });
  return { runtime, supervisor, started };
}

describe("the parts of a run", () => {
  test("start after what they depend on, all that can start at the same time together", async () => {
    const { runtime, supervisor } = supervised();
    const { promise, release } = deferred();
    runtime.whileStarting.set("store-1", () => promise);
    const starting = supervisor.start("generator", "server", "store");
    await new Promise(setImmediate);
    expect(runtime.calls).toEqual(["start store-1", "start store-2"]);
    release();
    expect((await starting).map(({ id }) => id)).toEqual(ROLES.map(({ id }) => id));
    expect(runtime.calls.slice(2)).toEqual([
      "start server-2",
      "start server-1",
      "start generator-1",
    ]);
    expect(supervisor.readyS("server")).toEqual({
      "server-1": expect.any(Number),
      "server-2": expect.any(Number),
    });
  });

  test("start by kind, and get the addresses of those before them", async () => {
    const seen: unknown[] = [];
    const server: Role = {
      ...role("server", 1, "store-1"),
      part: (places) => {
        seen.push(...places);
        return partOf("server-1");
      },
    };
    const { supervisor } = supervised([role("store", 1), server]);
    const [store] = await supervisor.start("store");
    await supervisor.start("server");
    expect(seen).toEqual([["store-1", store?.part.address]]);
  });

  test("do not start without what they depend on: that is a defect", async () => {
    await expect(supervised().supervisor.start("server")).rejects.toThrow("not started");
  });

  test("are all waited for when one of them fails, so that none is left behind", async () => {
    const { runtime, supervisor, started } = supervised();
    const { promise, release } = deferred();
    runtime.beforeStart.set("store-1", () => Promise.reject(new Error("no port is free")));
    runtime.whileStarting.set("store-2", () => promise);
    const starting = supervisor.start("store");
    let isOver = false;
    starting.catch(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    release();
    await expect(starting).rejects.toThrow("no port is free");
    expect(started.map(({ role: id }) => id)).toEqual(["store-2"]);
  });

  test("fail the run with the id of the required role that ended; the end of another is no failure", async () => {
    const { supervisor, started } = supervised();
    await supervisor.start("store", "server", "generator");
    const end = (id: string) => started.find((part) => part.role === id)?.stop();
    await end("generator-1");
    expect(await supervisor.waitFor(Promise.resolve("done"))).toBe("done");
    const waiting = supervisor.waitFor(new Promise(() => {}));
    await end("server-2");
    await expect(waiting).rejects.toThrow(PartFailed);
    await expect(waiting).rejects.toMatchObject({ role: "server-2" });
  });

  test("a store that has ended is the cause, also where what needs it failed before that was noticed", async () => {
    const { supervisor, started } = supervised();
    await supervisor.start("store", "server", "generator");
    const ofServer = new PartFailed("server-1", "ended with 1");
    expect(await supervisor.causeOf(ofServer)).toBe(ofServer);
    const found = [ofServer, environmentError("server-2 is not ready")].map((each) =>
      supervisor.causeOf(each),
    );
    setTimeout(() => started.find((part) => part.role === "store-2")?.stop(), 50);
    for (const cause of await Promise.all(found)) expect(cause).toMatchObject({ role: "store-2" });
    const defect = new Error("a defect");
    expect(await supervisor.causeOf(defect)).toBe(defect);
  });

  test("tell which machine does not answer any more, once, where one fails because of it", async () => {
    const { supervisor, started } = supervised();
    await supervisor.start("store", "server");
    const lost = (part: RunningPart): RunningPart =>
      Object.assign(part, {
        machine: "node2",
        trouble: async () => "its pod on the node node2 did not answer",
      });
    const [store, ...others] = started as [RunningPart, ...RunningPart[]];
    const failure = new PartFailed("generator-1", "ended with 4: the server gives no counters");
    const told = await withTroubles(failure, [store, ...others.slice(0, 2).map(lost)]);
    expect(told).toBeInstanceOf(PartFailed);
    expect((told as Error).message.split("node2")).toHaveLength(2);
    expect(await withTroubles(failure, [store])).toBe(failure);
    const unreachable = environmentError("nothing answers");
    expect(await withTroubles(unreachable, others.slice(0, 1).map(lost))).toMatchObject({
      exitCode: EXIT.environment,
      message: expect.stringContaining("node2"),
    });
    const other = new Error("a defect");
    expect(await withTroubles(other, others)).toBe(other);
  });
});
