import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { gubernatorHttp } from "../../../src/targets/clients/gubernator-grpc.js";
import { ownLibraries } from "../../../src/targets/libraries.js";
import { asRequestLimiter } from "../../../src/targets/request-limiter.js";
import { findLimiter } from "../../../src/targets/resolve.js";
import { readingOf } from "../../../src/targets/stores/gubernator-store.js";
import type { RequestLimiter } from "../../../src/targets/target-types.js";
import { expectFailure } from "../../helpers/errors.js";

const LIMITS = { points: 5, window_s: 60, block_s: 0 };

/** The limiter on a server that says the same to every POST, and the body of the last one. */
async function limiterOn(status: number, body: string, id = "gubernator") {
  let asked = "";
  const server = createServer(async (request, response) => {
    asked = (await request.toArray()).join("");
    response.statusCode = request.method === "GET" ? 200 : status;
    response.end(request.method === "GET" ? "{}" : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const node = { host: "127.0.0.1", port: 1, ports: { http: port, grpc: 1 } };
  const place = { store: "gubernator", topology: "standalone", nodes: [node] };
  const client = await gubernatorHttp.open(place);
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const created = await findLimiter(id).create(client, gubernatorHttp, LIMITS, "p", ownLibraries);
  const limiter: RequestLimiter = asRequestLimiter(created as NonNullable<typeof created>);
  return { limiter, asked: () => JSON.parse(asked) as unknown };
}

const answer = (...responses: object[]) =>
  JSON.stringify({
    responses: responses.map((response) => ({
      limit: "5",
      remaining: "0",
      reset_time: "0",
      error: "",
      ...response,
    })),
  });
const UNDER = { status: "UNDER_LIMIT" };
const POOL_IS_EMPTY = { ...UNDER, error: "unable to pick a peer; pool is empty" };

test("a 200 over the limit is a denial until its reset time", async () => {
  const reset_time = String(Date.now() + 30_000);
  const { limiter } = await limiterOn(
    200,
    answer({ status: "OVER_LIMIT", remaining: "2", reset_time }),
  );
  const decision = await limiter.consume("ada", 3);
  expect(decision).toMatchObject({ outcome: "limited", limit: 5, remaining: 2 });
  const { msBeforeNext } = decision as { msBeforeNext: number };
  expect(msBeforeNext).toBeGreaterThan(0);
  expect(msBeforeNext).toBeLessThanOrEqual(30_000);
});

test.each(["gubernator", "gubernator-leaky"])(
  "%s asks for all keys of a request at once",
  async (id) => {
    const { limiter, asked } = await limiterOn(200, answer(UNDER, { status: "OVER_LIMIT" }), id);
    expect((await limiter.consume(["ada", "exhausted-1"], 2)).outcome).toBe("limited");
    expect({ ...limiter.consumes }).toEqual({ calls: 1, allowed: 1, limited: 1, failed: 0 });
    const algorithm = id === "gubernator" ? "TOKEN_BUCKET" : "LEAKY_BUCKET";
    const common = { name: "p", hits: 2, duration: 60_000, algorithm };
    expect(asked()).toEqual({
      requests: [
        { ...common, unique_key: "ada", limit: 5 },
        { ...common, unique_key: "exhausted-1", limit: 0 },
      ],
    });
  },
);

test.each([
  ["a 200 under the limit with an error", 200, answer(POOL_IS_EMPTY), "pool is empty"],
  ["a 200 without a decision", 200, '{"responses":[]}', "0 of 1"],
  ["a 200 without a status", 200, answer({}), "status"],
  ["a 200 that is no JSON", 200, "OK", "JSON"],
  ["an error", 503, "unavailable", "503: unavailable"],
])("%s is a failure, never an admission", async (_name, status, body, text) => {
  const { limiter } = await limiterOn(status, body);
  const decision = await limiter.consume("ada");
  expect(decision.outcome).toBe("failed");
  expect(decision.outcome === "failed" && decision.error.message).toContain(text);
  expect({ ...limiter.consumes }).toEqual({ calls: 1, allowed: 0, limited: 0, failed: 1 });
});

const METRICS = `# TYPE gubernator_cache_size gauge
gubernator_cache_size 12
gubernator_getratelimit_counter{calltype="local"} 1.234567e+06
gubernator_over_limit_counter 30
gubernator_process_start_time_seconds 1.79566172305e+09
gubernator_unexpired_evictions_count 7
`;

test("counters are read to the last one, however they are written; a missing one is refused", async () => {
  const expected = {
    version: "",
    run_id: "1795661723.05",
    decisions: 1_234_567,
    keys: 12,
    evicted_keys: 7,
  };
  expect(readingOf("node", METRICS)).toEqual(expected);
  // Before the first decision.
  const fresh = METRICS.replace(/.*getratelimit.*\n/, "").replace("counter 30", "counter 0");
  expect(readingOf("node", fresh).decisions).toBe(0);
  await expectFailure(
    () => readingOf("127.0.0.1:7000", METRICS.replace(/.*cache_size \d+\n/, "")),
    3,
    "127.0.0.1:7000: /metrics has no number gubernator_cache_size",
  );
});
