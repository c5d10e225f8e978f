import { describe, expect, test } from "vitest";
import { freePort } from "../../../src/runtimes/local/ports.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { generate, measured, runProgram } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

test("a server that hangs costs the hanging requests: they time out, and the connection goes on", async () => {
  const stub = await StubServer.start({ hang: 400 });
  const result = await measured({
    TARGET_URL: stub.url,
    REQUESTS: "1500",
    CONNECTIONS: "3",
    TIMEOUT: "2",
  });
  const ends = { sent: 1500, timed_out: 3, allowed: 1497, followed: 0, connection_errors: 0 };
  expect(result.counts).toMatchObject(ends);
  expectConsistent(result);
  expect(result.timeouts).toBe(3);
  expect(result.latency?.p50).toBeLessThan(2_000);
  // Their age, and nobody knows how long they would have taken.
  expect(result.latency?.max).toBeNull();
  expect(result.latency?.bounds?.max?.low).toBeGreaterThanOrEqual(2_000);
  expect(result.latency?.bounds?.max?.high).toBeNull();
  expect(result.outcome).toBe("failed");
});

test("a server that cuts connections in the middle of answers costs those requests alone, and no later answer is older for it", async () => {
  const stub = await StubServer.start({ cut: 50 });
  const result = await measured({ TARGET_URL: stub.url, REQUESTS: "1500", CONNECTIONS: "3" });
  expect(result.counts).toMatchObject({ sent: 1500, connection_errors: 30, allowed: 1470 });
  expectConsistent(result);
  // A lost request that stayed in the queue would give its age, up to the whole window, to all
  // later answers.
  const { p50, bounds } = result.latency ?? {};
  expect(p50 ?? bounds?.p50?.high).toBeLessThan(50 * result.duration);
  expect(result.outcome).toBe("failed");
});

test("a server of ours that dies in the middle is a failed configuration that names it, not a defect", async () => {
  const port = await freePort();
  const server = runProgram("server/index.js", [], { MODE: "none", PORT: String(port) });
  const url = `http://127.0.0.1:${port}`;
  try {
    await expect.poll(() => answers(url), { timeout: 240_000 }).toBe(true);
    const running = generate({ TARGET_URL: url, DURATION: "3", CONNECTIONS: "2", TIMEOUT: "1" });
    await expect.poll(() => running.stderr(), { timeout: 240_000 }).toContain('"second"');
    server.kill("SIGKILL");
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr.trimEnd().split("\n").at(-1)).toContain(url);
  } finally {
    server.kill("SIGKILL");
    await server.ended;
  }
});

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

test.each([{ CONNECTIONS: "4" }, { RATE: "300", CONNECTIONS: "50" }])(
  "a server that ends every third connection with its answer, and says so, fails no request: %j",
  async (load) => {
    const stub = await StubServer.start({ close: 3 });
    const result = await measured({ TARGET_URL: stub.url, REQUESTS: "300", ...load });
    expectConsistent(result);
    expect(result.totalErrors).toBe(0);
    const { counts } = result;
    expect(counts.allowed + counts.after_window.allowed).toBe(counts.sent);
    // An open loop on a busy machine may send fewer than its schedule has, and says how many.
    const unsent = (result.schedule?.dropped ?? 0) + (result.schedule?.unsent ?? 0);
    const { asked, connections } = await stub.counts();
    expect([counts.sent + unsent, asked]).toEqual([300, counts.sent]);
    expect(connections).toBeGreaterThan(counts.sent / 3 - 1);
  },
);

describe("before anything is measured", () => {
  test("nothing that answers is an unfit environment", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, stdout, stderr } = await generate({ TARGET_URL: url, DURATION: "1" }).ended;
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(url);
  });

  test("a server without our nonce is an unfit environment: somebody else has the port [R-port-1]", async () => {
    const stub = await StubServer.start();
    const { code, stderr } = await generate({
      TARGET_URL: stub.url,
      RUN_NONCE: "mine",
      DURATION: "1",
    }).ended;
    expect(code).toBe(3);
    expect(stderr).toContain(stub.url);
    expect((await stub.counts()).asked).toBe(0);
  });

  test("our server of another run is told apart from ours [R-port-2]", async () => {
    const port = await freePort();
    const env = { MODE: "none", PORT: String(port), RUN_NONCE: "theirs" };
    const server = runProgram("server/index.js", [], env);
    const url = `http://127.0.0.1:${port}`;
    try {
      await expect.poll(() => answers(url), { timeout: 240_000 }).toBe(true);
      const wrong = await generate({ TARGET_URL: url, RUN_NONCE: "mine", DURATION: "1" }).ended;
      expect(wrong.code).toBe(3);
      const right = await measured({
        TARGET_URL: url,
        RUN_NONCE: "theirs",
        REQUESTS: "200",
        WARMUP: "0.2",
      });
      expect(right.consumers[0]?.run_nonce).toBe("theirs");
      expect(right.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
    } finally {
      server.kill("SIGTERM");
      await server.ended;
    }
  });

  // What else is: test/unit/kit/env.test.ts.
  test("a workload that the server does not have is bad usage in one line", async () => {
    const env = { TARGET_URL: "http://127.0.0.1:9", REQUEST_TYPE: "lite" };
    const { code, stdout, stderr } = await generate(env).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]*light, heavy[^\n]*\n$/);
  });
});
