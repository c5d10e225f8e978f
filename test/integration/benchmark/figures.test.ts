import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { latencyBlock } from "../../../src/judge/latency.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { generate, measured } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

const newFolder = temporaryFolders();

describe("failures", () => {
  test("of 2 % are counted apart, and improve no percentile: the run is valid, the target failed", async () => {
    const stub = await StubServer.start({ fail: 50, delay_us: 200 });
    const result = await measured({ TARGET_URL: stub.url, DURATION: "1.5", CONNECTIONS: "4" });
    const done = await stub.counts();
    expectConsistent(result);
    const { counts } = result;
    expect(counts.by_code["503"]).toBe(counts.failed_answers);
    expect(counts.failed_answers).toBeGreaterThan(0);
    // Those in flight when the window closed were answered, too, and are followed.
    expect(done.failed).toBe(counts.failed_answers + counts.after_window.failed_answers);
    expect(done.answered).toBe(counts.allowed + counts.after_window.allowed);
    expect(result.latency?.p99).toBeNull();
    expect(result.verdict.status).not.toBe("invalid");
    expect(result.outcome).toBe("failed");
  });

  test("are not what a limiter's 429 is", async () => {
    const stub = await StubServer.start({ limit: 10 });
    const result = await measured({ TARGET_URL: stub.url, REQUESTS: "500", CONNECTIONS: "5" });
    expectConsistent(result);
    expect(result.counts).toMatchObject({ allowed: 450, limited: 50, failed_answers: 0 });
    expect(result.verdict.status).not.toBe("invalid");
  });
});

test.each(["1", "3"])(
  "REQUESTS sends exactly so many, with %s workers, and none is followed",
  async (workers) => {
    const stub = await StubServer.start();
    const env = { TARGET_URL: stub.url, REQUESTS: "1001", CONNECTIONS: "7", WORKERS: workers };
    const result = await measured(env);
    expectConsistent(result);
    expect(result.counts).toMatchObject({ sent: 1001, allowed: 1001, followed: 0, cut: 0 });
    expect((await stub.counts()).asked).toBe(1001);
    expect(result.request).toMatchObject({
      load: { model: "closed", connections: 7 },
      extent: { requests: 1001 },
    });
  },
);

test("several workers are one generator: connections and counts add up, histograms are merged", async () => {
  const stub = await StubServer.start({ limit: 5 });
  const result = await measured({
    TARGET_URL: stub.url,
    DURATION: "1",
    CONNECTIONS: "5",
    WORKERS: "2",
    WARMUP: "0.3",
  });
  expectConsistent(result);
  const [part, ...others] = result.generators;
  if (!part) throw new Error("a generator");
  expect(others).toEqual([]);
  expect(part.workers.map(({ connections }) => connections)).toEqual([3, 2]);
  for (const kind of ["sent", "allowed", "limited", "followed"] as const) {
    expect(part.workers.reduce((sum, { counts }) => sum + counts[kind], 0)).toBe(part.counts[kind]);
  }
  expect(latencyBlock([part.histograms])).toEqual(result.latency);
});

test("a foreign server's figures are absent, not zero", async () => {
  const stub = await StubServer.start();
  const result = await measured({
    TARGET_URL: stub.url,
    REQUESTS: "100",
    CONNECTIONS: "2",
    WARMUP: "0.1",
  });
  for (const key of ["cpu_usage", "memory_usage", "memory_resident", "store", "prediction"]) {
    expect(result).not.toHaveProperty(key);
  }
  expect(result.consumers).toEqual([]);
  expect(Object.keys(result.resources)).toEqual(["generator-1"]);
  expect(Object.keys(result.versions).sort()).toEqual(["autocannon", "harness", "node"]);
  expect(JSON.stringify(result.samples)).not.toContain("server_");
});

test("with OUTPUT_FILE the result is there, and standard output is empty", async () => {
  const stub = await StubServer.start();
  const path = join(newFolder(), "result file.json");
  const env = {
    TARGET_URL: `${stub.url}//`,
    REQUESTS: "50",
    CONNECTIONS: "1",
    OUTPUT_FILE: path,
    PROGRESS: "text",
  };
  const { code, stdout, stderr } = await generate(env).ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ requests: { total: 50 } });
  expect(stderr).toMatch(/^connected\ndrained\nmeasure\n(.* requests\/s, .*\n)+finished\n$/);
});
