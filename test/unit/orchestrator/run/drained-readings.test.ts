import { describe, expect, test } from "vitest";
import { DrainedReadings } from "../../../../src/orchestrator/run/drained-readings.js";
import { deferred } from "../../../helpers/fake-runtime.js";

/** Records what happens, in order; `readBefore` is what the store does. */
function readings(readBefore: () => Promise<void> = async () => {}, generators = 1) {
  const calls: string[] = [];
  const recorded = (name: string, work: () => Promise<void>) => async () => {
    calls.push(`${name} begins`);
    await work();
    calls.push(`${name} done`);
  };
  const quick = () => new Promise<void>((resolve) => setImmediate(resolve));
  const taken = new DrainedReadings(
    Array.from({ length: generators }, () => ({
      write: (line: string) => void calls.push(`write ${line}`),
    })),
    { readBefore: recorded("store", readBefore) },
    { start: recorded("start", quick), stop: recorded("stop", quick) },
  );
  return { taken, calls };
}

describe("at a drained moment of the generator", () => {
  test("the counters are read, and then it may go on", async () => {
    const { taken, calls } = readings();
    for (const phase of ["connected", "drained", "finished"] as const) {
      taken.take(0, phase);
      await taken.done();
    }
    const moment = (name: string) => [`${name} begins`, `${name} done`, "write read"];
    expect(calls).toEqual([...moment("store"), ...moment("start"), ...moment("stop")]);
  });

  test("that comes while the one before is still read, readings and lines keep their order", async () => {
    const { promise, release } = deferred();
    const { taken, calls } = readings(() => promise);
    taken.take(0, "connected");
    taken.take(0, "drained");
    await new Promise(setImmediate);
    expect(calls).toEqual(["store begins"]);
    release();
    await taken.done();
    expect(calls.slice(1)).toEqual([
      "store done",
      "write read",
      "start begins",
      "start done",
      "write read",
    ]);
  });

  test("a reading that fails is the failure of the run, and the generator goes on", async () => {
    const failure = new Error("the store does not answer");
    const { taken, calls } = readings(() => Promise.reject(failure));
    taken.take(0, "connected");
    await expect(taken.failed).rejects.toBe(failure);
    await expect(taken.done()).rejects.toBe(failure);
    await new Promise(setImmediate);
    expect(calls).toEqual(["store begins", "write read"]);
  });
});

describe("several generators", () => {
  test("all go on at once, when the last has come and the counters are read", async () => {
    const { promise, release } = deferred();
    const { taken, calls } = readings(() => promise, 3);
    expect([taken.take(0, "connected"), taken.take(2, "connected")]).toEqual([false, false]);
    await new Promise(setImmediate);
    expect(calls).toEqual([]);
    expect(taken.take(1, "connected")).toBe(true);
    await new Promise(setImmediate);
    expect(calls).toEqual(["store begins"]);
    release();
    await taken.done();
    expect(calls.slice(1)).toEqual(["store done", "write read", "write read", "write read"]);
  });

  test("that wait for each other read nothing", async () => {
    const { taken, calls } = readings(undefined, 2);
    taken.take(0, "waiting");
    taken.take(1, "waiting");
    await taken.done();
    expect(calls).toEqual(["write read", "write read"]);
  });
});
