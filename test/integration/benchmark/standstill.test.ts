import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { measuredResultSchema } from "../../../src/contract/result.js";
import { generate } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

/** Longer than any pause that a busy machine makes by itself. */
const STOPPED_MS = 500;

/** The result of a run in whose window `stop` does something. */
async function runWith(
  stop: (generator: ReturnType<typeof generate>, stub: StubServer) => Promise<void>,
) {
  const stub = await StubServer.start();
  const load = { RATE: "200", CONNECTIONS: "4", DURATION: "1.5", WARMUP: "0.2" };
  const generator = generate({ TARGET_URL: stub.url, ...load });
  await vi.waitFor(() => expect(generator.stderr()).toContain('"measure"'), {
    timeout: 30_000,
    interval: 20,
  });
  await sleep(300);
  await stop(generator, stub);
  const { stdout } = await generator.ended;
  const result = measuredResultSchema.loose().parse(JSON.parse(stdout));
  return { ...result, longest_gap_ms: result.generators[0]?.longest_gap_ms };
}

test("a generator that was stopped says so, and nothing of the target [R-standstill-1]", async () => {
  const { longest_gap_ms, verdict, outcome } = await runWith(async ({ kill }) => {
    kill("SIGSTOP");
    await sleep(STOPPED_MS);
    kill("SIGCONT");
  });
  expect(longest_gap_ms).toBeGreaterThan(STOPPED_MS - 50);
  expect(verdict.reasons.map(({ rule }) => rule)).toContain("M36");
  expect(outcome).toBeUndefined();
});

test("a server that was stopped is no gap of the generator", async () => {
  const { longest_gap_ms, latency } = await runWith(async (_, stub) => {
    stub.signal("SIGSTOP");
    await sleep(STOPPED_MS);
    stub.signal("SIGCONT");
  });
  expect(longest_gap_ms).toBeLessThan(STOPPED_MS - 50);
  expect(latency?.max).toBeGreaterThan(STOPPED_MS - 150);
});
