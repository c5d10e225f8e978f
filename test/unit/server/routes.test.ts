import { describe, expect, test } from "vitest";
import { processDiagnosisSchema } from "../../../src/contract/diagnosis.js";
import { healthSchema } from "../../../src/contract/server-api.js";
import { frameworks } from "../../../src/targets/frameworks.js";
import type { Decision } from "../../../src/targets/types.js";
import { ALLOWED, FAILED, fakeAppOn, limited } from "../../helpers/app.js";

const SERVED = frameworks.map(({ id }) => id);

describe.each(SERVED)("%s", (framework) => {
  const fakeApp = fakeAppOn(framework);

  describe("/usage", () => {
    test("a request is in flight until its consumes are finished", async () => {
      const { get, standard, usage } = fakeApp();
      let decide: (decision: Decision) => void = () => undefined;
      standard.answer = () =>
        new Promise((resolve) => {
          decide = resolve;
        });
      const answer = get("/light");
      while (standard.keys.length === 0) await new Promise(setImmediate);
      expect(await usage()).toMatchObject({ requests: 1, in_flight: 1, consumes: { calls: 1, allowed: 0 } });
      decide(ALLOWED);
      expect((await answer).statusCode).toBe(200);
      expect(await usage()).toMatchObject({ requests: 1, in_flight: 0, consumes: { calls: 1, allowed: 1 } });
    });

    test("without a limiter requests are counted, but no consumes", async () => {
      const { get, usage } = fakeApp("none");
      expect((await get("/light?userId=")).statusCode).toBe(200);
      const reading = await usage();
      expect(reading).toMatchObject({ requests: 1, in_flight: 0 });
      expect(reading).not.toHaveProperty("consumes");
    });
  });

  test("/diagnosis is there in a diagnosing run alone, and counts the requests since the last call", async () => {
    expect((await fakeApp().get("/diagnosis")).statusCode).toBe(404);
    const { get } = fakeApp("memory", {}, { diagnose: true });
    const read = async () => processDiagnosisSchema.parse((await get("/diagnosis")).json());
    await get("/light");
    await get("/light");
    expect((await read()).requests).toBe(2);
    await get("/light");
    expect((await read()).requests).toBe(1);
  });

  describe("/healthz", () => {
    test("has identity and versions of the server", async () => {
      const { get } = fakeApp("memory", { version: "1.2.3", storeVersion: async () => "9.1.2" });
      const health = healthSchema.parse((await get("/healthz")).json());
      expect(health).toMatchObject({
        run_nonce: "nonce-1",
        target: { text: framework === "fastify" ? "memory" : `memory+${framework}` },
        workloads: [{ id: "light" }, { id: "heavy", complexity: 2 }],
        limits: { points: 100, window_s: 60, block_s: 0 },
        client_settings: { protocol: "RESP2" },
        pid: process.pid,
      });
      expect(health.versions).toMatchObject({ client: "1.2.3", limiter: "11.4.0", store: "9.1.2" });
      expect(health.versions).toHaveProperty(framework, "5.0.0");
    });

    test("is 503 with the reason when the store does not answer", async () => {
      const { get } = fakeApp("memory", {
        storeVersion: async () => {
          throw new Error("connection lost");
        },
      });
      const answer = await get("/healthz");
      expect(answer.statusCode).toBe(503);
      expect(answer.json()).toMatchObject({ run_nonce: "nonce-1", error: "connection lost" });
      expect(healthSchema.safeParse(answer.json()).success).toBe(false);
    });
  });

  test("/metrics counts consumes, hits, requests and durations", async () => {
    const { get, standard } = fakeApp();
    await get("/light");
    standard.answer = () => limited(1);
    await get("/light?userId=a&userId=b");
    standard.answer = () => FAILED;
    await get("/heavy");
    await get("/light?userId=");
    await get("/metrics");
    const { body, headers } = await get("/metrics");
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    for (const line of [
      'ratelimit_consumes_total{outcome="allowed"} 1',
      'ratelimit_consumes_total{outcome="limited"} 2',
      'ratelimit_consumes_total{outcome="failed"} 1',
      "ratelimit_hits_total 1",
      "ratelimit_requests_total 4",
      'ratelimit_answers_total{status="200"} 1',
      'ratelimit_answers_total{status="400"} 1',
      'ratelimit_answers_total{status="503"} 1',
      "ratelimit_requests_in_flight 0",
      'ratelimit_consume_duration_seconds_bucket{le="+Inf"} 3',
      "ratelimit_consume_duration_seconds_count 3",
    ]) {
      expect(body).toContain(`\n${line}\n`);
    }
    expect(body).toContain("\nprocess_cpu_seconds_total ");
  });
});
