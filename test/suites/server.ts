import { describe, expect, test } from "vitest";
import { processDiagnosisSchema } from "../../src/contract/diagnosis.js";
import { healthSchema } from "../../src/contract/server-api.js";
import type { Decision } from "../../src/targets/target-types.js";
import { ALLOWED, CALLER, FAILED, fakeAppOn, limited } from "../helpers/app.js";

/**
 * What the server answers and counts, whatever its web framework. @param load its packages, by
 * default the project's
 */
export function serverContract(framework: string, load?: Parameters<typeof fakeAppOn>[1]): void {
  const fakeApp = fakeAppOn(framework, load);

  describe("keys", () => {
    test("a request without userId uses the client's address", async () => {
      const { get, standard } = fakeApp();
      await get("/light");
      expect(standard.keys).toEqual([CALLER]);
    });

    test("each userId is a descriptor, even if it is repeated", async () => {
      const { get, standard, usage } = fakeApp();
      expect((await get("/light?userId=a&other=x&userId=b%20c&userId=a")).statusCode).toBe(200);
      expect(standard.keys).toEqual(["a", "b c", "a"]);
      expect((await usage()).consumes).toEqual({ calls: 3, allowed: 3, limited: 0, failed: 0 });
    });

    test("a key with the exhausted prefix goes to the limiter with 0 points", async () => {
      const { get, standard, exhausted } = fakeApp();
      await get("/light?userId=exhausted-7&userId=plain&userId=not-exhausted-8");
      expect(exhausted.keys).toEqual(["exhausted-7"]);
      expect(standard.keys).toEqual(["plain", "not-exhausted-8"]);
    });

    test.each([
      "/light?userId=",
      "/light?userId",
      "/light?userId=a&userId=",
      `/light?userId=${"x".repeat(257)}`,
      `/light?${"userId=a&".repeat(17)}`,
    ])("%s is a bad request and consumes nothing", async (url) => {
      const { get, standard, usage } = fakeApp();
      const answer = await get(url);
      expect(answer.statusCode).toBe(400);
      expect(answer.json()).toHaveProperty("error");
      expect(standard.keys).toEqual([]);
      expect(await usage()).toMatchObject({ requests: 1, in_flight: 0 });
    });

    test.each(["__proto__", "constructor", "a\u0000b", "🦜", "<img onerror=x>", "x".repeat(256)])(
      "%j is a key like any other",
      async (key) => {
        const { get, standard } = fakeApp();
        expect((await get(`/light?userId=${encodeURIComponent(key)}`)).statusCode).toBe(200);
        expect(standard.keys).toEqual([key]);
      },
    );
  });

  describe("answers", () => {
    test("an admitted request gets the constant answer, without limit headers", async () => {
      const answer = await fakeApp().get("/light");
      expect(answer.json()).toEqual({ workload: "light" });
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.headers).not.toHaveProperty("retry-after");
    });

    test.each([
      [1, 1],
      [1000, 1],
      [1001, 2],
      [59_500, 60],
      [0, 1],
      [-1, 1],
    ])("a wait of %i ms is told as %i whole seconds", async (ms, seconds) => {
      const { get, standard } = fakeApp();
      standard.answer = () => limited(ms, 25);
      const { statusCode, headers, body } = await get("/light");
      expect(statusCode).toBe(429);
      expect(headers).toMatchObject({
        "retry-after": String(seconds),
        "x-ratelimit-limit": "25",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": String(seconds),
        "content-type": "application/json; charset=utf-8",
      });
      expect(JSON.parse(body)).toEqual({ error: "too many requests", retry_after_s: seconds });
    });

    test("one denied descriptor denies the request, with the headers of the longest wait", async () => {
      const { get, standard, usage } = fakeApp();
      const decisions: Record<string, Decision> = {
        a: limited(5_000, 1),
        b: ALLOWED,
        c: limited(9_000, 2),
      };
      standard.answer = (key) => decisions[key] ?? limited(7_000, 3);
      const answer = await get("/light?userId=a&userId=b&userId=c&userId=d");
      expect(answer.statusCode).toBe(429);
      expect(answer.headers).toMatchObject({ "retry-after": "9", "x-ratelimit-limit": "2" });
      expect((await usage()).consumes).toEqual({ calls: 4, allowed: 1, limited: 3, failed: 0 });
    });

    test("a store failure is 503, is counted separately, and outweighs a denial", async () => {
      const { get, standard, usage } = fakeApp();
      standard.answer = (key) => (key === "bad" ? FAILED : limited(1_000));
      const answer = await get("/light?userId=a&userId=bad");
      expect(answer.statusCode).toBe(503);
      expect(answer.headers).not.toHaveProperty("retry-after");
      expect(answer.json()).toHaveProperty("error");
      expect((await usage()).consumes).toEqual({ calls: 2, allowed: 0, limited: 1, failed: 1 });
    });

    test("descriptors are consumed at the same time", async () => {
      const { get, standard } = fakeApp();
      // Each waits for the other: one after the other would never answer.
      let waiting: ((decision: Decision) => void) | undefined;
      standard.answer = () =>
        new Promise((resolve) => {
          if (waiting) {
            waiting(ALLOWED);
            resolve(ALLOWED);
          }
          waiting = resolve;
        });
      expect((await get("/light?userId=a&userId=b")).statusCode).toBe(200);
    });

    test("only /light and /heavy are limited", async () => {
      const { get, standard } = fakeApp();
      standard.answer = () => limited(1);
      const statuses = await Promise.all(
        ["/light", "/heavy", "/healthz", "/usage", "/metrics", "/nope"].map(
          async (url) => (await get(url)).statusCode,
        ),
      );
      expect(statuses).toEqual([429, 429, 200, 200, 200, 404]);
      expect(standard.keys).toHaveLength(2);
    });

    test("heavy does the configured work and reports it", async () => {
      const { get } = fakeApp();
      const [one, two] = [(await get("/heavy")).json(), (await get("/heavy")).json()];
      expect(one).toMatchObject({ workload: "heavy", complexity: 2, seed: 1 });
      expect(two).toMatchObject({ complexity: 2, seed: 2, steps: one.steps });
      expect(two.result).not.toBe(one.result);
    });
  });

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
      expect(await usage()).toMatchObject({
        requests: 1,
        in_flight: 1,
        consumes: { calls: 1, allowed: 0 },
      });
      decide(ALLOWED);
      expect((await answer).statusCode).toBe(200);
      expect(await usage()).toMatchObject({
        requests: 1,
        in_flight: 0,
        consumes: { calls: 1, allowed: 1 },
      });
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
    expect(headers["content-type"]).toMatch(/^text\/plain; .*version=0\.0\.4/);
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
}
