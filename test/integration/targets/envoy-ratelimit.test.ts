import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from "vitest";
import { sum } from "../../../src/kit/numbers.js";
import { common } from "../../../src/targets/clients/client-settings.js";
import { findLimiter, findStore } from "../../../src/targets/resolve.js";
import { domainOf, envoyRatelimit } from "../../../src/targets/services/envoy-ratelimit/index.js";
import { findEngine } from "../../../src/targets/stores/engines.js";
import type { StorePlace } from "../../../src/targets/target-types.js";
import { TestEnvoy } from "../../helpers/envoy.js";
import { needs } from "../../helpers/needs.js";
import { type StoreKind, until } from "../../helpers/store.js";
import { targetOf } from "../../helpers/target.js";
import { countOutcomes, openRequestLimiter, useInChildProcess } from "../../suites/open-target.js";
import { StoreSetup } from "../../suites/store-setup.js";

/** A window that does not end within a test, except once a day. */
const LIMITS = { points: 20, window_s: 86_400, block_s: 0 };
const CLIENTS = ["envoy-grpc", "envoy-http"];
const COMMANDS = findLimiter("envoy-ratelimit").decisionCommands;

type Opened = Awaited<ReturnType<typeof openRequestLimiter>>;

const open = (text: string, place: StorePlace): Promise<Opened> =>
  openRequestLimiter(targetOf(text), place, LIMITS);

/** Decisions that the store counted. */
async function storeDecisions({ place }: StoreSetup): Promise<number> {
  const store = findStore(place.store);
  const session = await findEngine(store.engine ?? "").connect(place.nodes, {});
  try {
    await session.ready("standalone", performance.now() + 120_000);
    const readings = await session.read(store, COMMANDS);
    return sum(readings.map(({ decisions = Number.NaN }) => decisions));
  } finally {
    session.close();
  }
}

const STORES: readonly (readonly [StoreKind, string])[] = [
  ["redis", "standalone"],
  ["valkey", "cluster"],
  ["memcached", "standalone"],
];

describe.each(STORES)("on %s %s", (kind, topology) => {
  const { tags, skip } = needs(["envoy-ratelimit", kind]);
  const { atomic, notAtomicOn = [] } = findLimiter("envoy-ratelimit");
  const isExact = atomic === true && !notAtomicOn.includes(kind);
  const textOf = (id: string): string => `${id}@${kind}:${topology}`;
  let setup: StoreSetup;
  let service: TestEnvoy;
  let place: StorePlace;
  beforeAll(async () => {
    if (skip) return;
    setup = await StoreSetup.start(kind, topology);
    service = await TestEnvoy.start(setup.place, LIMITS);
    place = { ...setup.place, service: service.spec };
  });
  afterAll(async () => {
    await service?.stop();
    await setup?.stop();
  });

  describe.each(CLIENTS)("%s", { tags, skip }, (id) => {
    let opened: Opened;
    beforeEach(async () => {
      opened = await open(textOf(id), place);
      await setup.reset();
    });
    afterEach(() => opened?.client.close());

    test("decides on all descriptors of a request in one call; service and store count each descriptor once", async () => {
      const before = await envoyRatelimit.read(service.spec);
      expect(await opened.limiter.consume(["ada", "bob", "cyd"])).toEqual({ outcome: "allowed" });
      expect(await opened.limiter.consume("ada")).toEqual({ outcome: "allowed" });
      const denied = await opened.limiter.consume(["ada", "exhausted-1", "dan"]);
      expect(denied).toMatchObject({ outcome: "limited", limit: LIMITS.points, remaining: 0 });
      const { msBeforeNext } = denied as { msBeforeNext: number };
      expect(msBeforeNext).toBeGreaterThan(0);
      expect(msBeforeNext).toBeLessThanOrEqual(86_400_000);
      expect(opened.limiter.consumes).toEqual({ calls: 3, allowed: 6, limited: 1, failed: 0 });
      const after = await envoyRatelimit.read(service.spec);
      expect(after.run_id).toBe(before.run_id);
      expect(after.decisions - before.decisions).toBe(7);
      expect((after.allowed ?? 0) - (before.allowed ?? 0)).toBe(6);
      expect((after.limited ?? 0) - (before.limited ?? 0)).toBe(1);
      expect(await storeDecisions(setup)).toBe(7);
    });

    test("a request of several points uses that many", async () => {
      const outcome = async () => (await opened.limiter.consume("costly", 8)).outcome;
      expect([await outcome(), await outcome()]).toEqual(["allowed", "allowed"]);
      if (isExact) expect(await outcome()).toBe("limited");
      // memcached increments after the answer.
      else await until(async () => (await outcome()) === "limited");
    });

    test("a key at its quota is denied; a thousand at once are counted, and exactly the quota admitted unless the limiter says otherwise", async () => {
      for (let n = 0; n < LIMITS.points; n++)
        expect((await opened.limiter.consume("slow")).outcome).toBe("allowed");
      await until(async () => (await opened.limiter.consume("slow")).outcome === "limited");
      const before = { ...opened.limiter.consumes };
      const decisions = await Promise.all(
        Array.from({ length: 1_000 }, () => opened.limiter.consume("burst")),
      );
      const { allowed, limited, failed } = countOutcomes(decisions);
      expect({ sum: allowed + limited, failed }).toEqual({ sum: 1_000, failed: 0 });
      expect(opened.limiter.consumes.allowed - before.allowed).toBe(allowed);
      if (isExact) expect(allowed).toBe(LIMITS.points);
      else expect(allowed).toBeGreaterThanOrEqual(LIMITS.points);
    });
  });
});

const { tags, skip } = needs(["envoy-ratelimit", "redis"]);
describe("whatever the store", { tags, skip }, () => {
  let setup: StoreSetup;
  beforeAll(async () => {
    setup = await StoreSetup.start("redis", "standalone");
  });
  beforeEach(() => setup.reset());
  afterAll(() => setup?.stop());

  const started = async (changes = {}, ready = true): Promise<TestEnvoy> => {
    const service = await TestEnvoy.start(setup.place, LIMITS, changes, ready);
    onTestFinished(() => service.stop());
    return service;
  };

  test("clients open ten connections with a limit for both keys, report settings and version, and leave nothing open", async () => {
    const place = { ...setup.place, service: (await started()).spec };
    const targets = CLIENTS.map((id) => targetOf(`${id}@redis`));
    for (const { text } of targets) {
      const { client, limiter } = await open(text, place);
      await client.close();
      expect(client.settings).toMatchObject({
        connections: 10,
        request_timeout_ms: common.requestTimeoutMs,
      });
      expect(client.version).toMatch(/^\d+\.\d+\.\d+/);
      expect(limiter.consumes).toEqual({ calls: 0, allowed: 0, limited: 0, failed: 0 });
    }
    const { output, code } = await useInChildProcess(targets, place);
    expect(output).toBe(targets.map(({ text }) => `${text} allowed\n`).join(""));
    expect(code).toBe(0);
  });

  test.each(CLIENTS)(
    "%s: a domain without a limit is refused: it would admit everything",
    async (id) => {
      const files = envoyRatelimit.files(LIMITS, "another-run");
      const { spec } = await started({ files }, false);
      const message = domainOf(spec.nonce);
      const deadline = Date.now() + 120_000;
      await expect(envoyRatelimit.ready(spec, deadline)).rejects.toThrow(message);
      await expect(open(`${id}@redis`, { ...setup.place, service: spec })).rejects.toThrow(message);
    },
  );

  test.each(CLIENTS)("%s: an answer without a limit is a failure, not an admission", async (id) => {
    const service = await started();
    const place = { ...setup.place, service: service.spec };
    const { client, limiter } = await open(`${id}@redis`, place);
    await service.kill();
    // A service of another run, on the same ports.
    const { port, ports } = service.spec;
    await started({ nonce: "another-run", port, ports });
    await until(async () => {
      const decision = await limiter.consume("ada");
      expect(decision.outcome).toBe("failed");
      return (
        decision.outcome === "failed" && /it would admit everything/.test(decision.error.message)
      );
    });
    await client.close();
  });

  test("another service that shares the port is noticed", async () => {
    const stale = await started({ nonce: "stale-run" });
    const { spec } = await started({ port: stale.spec.port }, false);
    await expect(envoyRatelimit.ready(spec, performance.now() + 120_000)).rejects.toThrow(
      `127.0.0.1:${spec.port}`,
    );
  });
});

// Each waits for several seconds, on a store and a service of its own.
describe.concurrent("without a store", { tags, skip }, () => {
  test("a service that does not start is not ready: the last problem is named, and nothing answers", async ({
    onTestFinished,
  }) => {
    const nobody = {
      store: "redis",
      topology: "standalone",
      nodes: [{ host: "127.0.0.1", port: 1 }],
    };
    const service = await TestEnvoy.start(nobody, LIMITS, {}, false);
    onTestFinished(() => service.stop());
    expect(await service.exited).toBe(2);
    await expect(envoyRatelimit.ready(service.spec, performance.now())).rejects.toThrow(
      "ECONNREFUSED",
    );
    for (const id of CLIENTS)
      await expect(open(`${id}@redis`, { ...nobody, service: service.spec })).rejects.toThrow();
  });

  test("a store that dies is a failure within the time-out, not a denial and not a hang; then it recovers", async ({
    onTestFinished,
  }) => {
    const otherStore = await StoreSetup.start("redis", "standalone");
    onTestFinished(() => otherStore.stop());
    const service = await TestEnvoy.start(otherStore.place, LIMITS);
    onTestFinished(() => service.stop());
    const place = { ...otherStore.place, service: service.spec };
    const opened = await Promise.all(CLIENTS.map((id) => open(`${id}@redis`, place)));
    await otherStore.kill();
    const lost = opened.flatMap(({ limiter }) =>
      Array.from({ length: 30 }, (_, n) => limiter.consume(`lost-${n}`)),
    );
    expect(countOutcomes(await Promise.all(lost))).toEqual({ allowed: 0, limited: 0, failed: 60 });
    await otherStore.run();
    for (const { limiter, client } of opened) {
      await until(async () => (await limiter.consume("back")).outcome === "allowed");
      await client.close();
    }
  });
});
