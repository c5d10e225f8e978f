import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { throttlecrabHttp } from "../../../src/targets/clients/throttlecrab-grpc.js";
import { ownLibraries } from "../../../src/targets/libraries.js";
import { throttlecrabLimiter } from "../../../src/targets/limiters/throttlecrab.js";
import { readingOf } from "../../../src/targets/stores/throttlecrab-store.js";
import type { Decision } from "../../../src/targets/target-types.js";
import { expectFailure } from "../../helpers/errors.js";
import { pairOf } from "../../helpers/limiter-pair.js";

const LIMITS = { points: 5, window_s: 60, block_s: 0 };

/** What the limiter makes of an answer of a server that says the same to every POST. */
async function decisionOn(status: number, body: string): Promise<Decision> {
  const server = createServer((request, response) => {
    response.statusCode = request.method === "GET" ? 200 : status;
    response.end(request.method === "GET" ? "OK" : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const node = { host: "127.0.0.1", port: 1, ports: { http: port } };
  const place = { store: "throttlecrab", topology: "standalone", nodes: [node] };
  const client = await throttlecrabHttp.open(place);
  onTestFinished(async () => {
    await client.close();
    server.close();
  });
  const created = await throttlecrabLimiter.create(
    client,
    throttlecrabHttp,
    LIMITS,
    "rl",
    ownLibraries,
  );
  return pairOf(created).standard.consume("ada");
}

const denial = { allowed: false, limit: 5, remaining: 0, reset_after: 60, retry_after: 12 };

test("a 200 that denies is a denial", async () => {
  const limited = { outcome: "limited", limit: 5, remaining: 0, msBeforeNext: 12_000 };
  expect(await decisionOn(200, JSON.stringify(denial))).toEqual(limited);
  expect(await decisionOn(200, JSON.stringify({ ...denial, allowed: true }))).toEqual({
    outcome: "allowed",
  });
});

test.each([
  ["a 200 that does not say whether it admits", 200, '{"limit":5}', "has no `allowed`"],
  ["a 200 that is no JSON", 200, "OK", "JSON"],
  ["an error", 422, "missing field `key`", "422: missing field"],
])("%s is a failure, never an admission", async (_name, status, body, text) => {
  const decision = await decisionOn(status, body);
  expect(decision.outcome).toBe("failed");
  expect(decision.outcome === "failed" && decision.error.message).toContain(text);
});

const METRICS = `# TYPE throttlecrab_requests_total counter
throttlecrab_uptime_seconds 12
throttlecrab_requests_total 107
throttlecrab_requests_by_transport{transport="http"} 100
throttlecrab_requests_allowed 70
throttlecrab_requests_denied 30
throttlecrab_requests_errors 7
`;

test("metrics without a counter are refused in one line that names it", async () => {
  await expectFailure(
    () => readingOf("127.0.0.1:7000", METRICS.replace(/.*denied.*\n/, "")),
    3,
    "127.0.0.1:7000: /metrics has no number throttlecrab_requests_denied",
  );
});
