import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { runGenerator as RunGenerator } from "../../../src/benchmark/generator-run.js";
import { decodeGeneratorEnv } from "../../../src/contract/generator-env.js";
import type { Progress, ReadingPhase } from "../../../src/contract/progress.js";
import { encodeRunSpec } from "../../../src/contract/run-spec.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { build, generate as generateAlone, measured, ROOT } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

let runGenerator: typeof RunGenerator;
beforeAll(async () => {
  build();
  // Its worker threads need built files.
  ({ runGenerator } = await import(join(ROOT, "dist/benchmark/generator-run.js")));
});

const isReading = (phase: string): phase is ReadingPhase => !["warmup", "measure"].includes(phase);

/** What the orchestrator asks of a generator against this server. */
function specFor({ url }: StubServer) {
  const env = { TARGET_URL: url, DURATION: "0.5", WARMUP: "0.3", CONNECTIONS: "4", WORKERS: "2" };
  const spec = decodeGeneratorEnv(env);
  return { ...spec, generator: { ...spec.generator, waits_for_readings: true } };
}

/** Makes a run in this process. @param onPhase what the orchestrator does at a drained moment */
function generate(stub: StubServer, onPhase: (phase: ReadingPhase, write: () => void) => void) {
  const input = new PassThrough();
  const phases: string[] = [];
  const report = (progress: Progress) => {
    if (progress.event !== "phase") return;
    phases.push(progress.phase);
    if (isReading(progress.phase)) onPhase(progress.phase, () => void input.write("read\n"));
  };
  return { phases, result: runGenerator(specFor(stub), [], report, input) };
}

test("at each drained moment the generator waits for the line that the counters are read and sends nothing until it comes", async () => {
  const stub = await StubServer.start({ delay_us: 200 });
  const asked: Partial<Record<ReadingPhase, number[]>> = {};
  const { phases, result } = generate(stub, async (phase, write) => {
    const first = (await stub.counts()).asked;
    await sleep(300);
    asked[phase] = [first, (await stub.counts()).asked];
    write();
  });
  const { counts, warmup, ...rest } = await result;
  expectConsistent({ ...rest, counts, warmup });
  expect(phases).toEqual(["connected", "warmup", "drained", "measure", "finished"]);
  expect(warmup.lead_in.requests).toBeGreaterThan(0);
  expect(warmup.requests).toBeGreaterThan(warmup.lead_in.requests);
  const atBoth = (count: number) => [count, count];
  expect(asked).toEqual({
    connected: atBoth(0),
    // The lead-in comes after the reading.
    drained: atBoth(warmup.requests - warmup.lead_in.requests),
    finished: atBoth(warmup.requests + counts.sent),
  });
});

test("a generator whose input ends sends nothing and does not hang", async () => {
  const stub = await StubServer.start({ delay_us: 200 });
  const { code } = await generateAlone({ ...encodeRunSpec(specFor(stub)) }).ended;
  expect(code).toBe(4);
  expect((await stub.counts()).asked).toBe(0);
});

test("a generator that was started by hand waits for nothing", async () => {
  const stub = await StubServer.start({ delay_us: 200 });
  const result = await measured({ TARGET_URL: stub.url, DURATION: "0.5" });
  expect(result.warmup).toEqual({ took_s: 0, requests: 0, lead_in: { took_s: 0, requests: 0 } });
});
