import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { asRequestLimiter } from "../../../src/targets/request-limiter.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { needs } from "../../helpers/needs.js";
import { build } from "../../helpers/programs.js";
import { until } from "../../helpers/store.js";
import { targetOf } from "../../helpers/target.js";
import { TestThrottleCrab, throttlecrabProgram } from "../../helpers/throttlecrab.js";
import {
  countOutcomes,
  LIMITS,
  type OpenTarget,
  openTarget,
  useInChildProcess,
  withOpenTargets,
} from "../../suites/open-target.js";

const CLIENTS = [
  "ioredis@throttlecrab",
  "ioredis@throttlecrab+autopipelining",
  "iovalkey@throttlecrab",
  "node-redis@throttlecrab",
  "throttlecrab-http",
  "throttlecrab-grpc",
];

const TARGETS = CLIENTS.map((text) => targetOf(text));

const AT_ONCE = 1_000;

describe("ThrottleCrab", needs(["throttlecrab"]), () => {
  let server: TestThrottleCrab;
  beforeAll(async () => {
    server = await TestThrottleCrab.start();
  });
  afterAll(() => server?.kill());

  describe.each(CLIENTS)("by %s", (text) => {
    const target = targetOf(text);
    let opened: OpenTarget;
    /** Before the client was opened. */
    let before: number;
    beforeEach(async () => {
      before = await server.decisions();
      opened = await openTarget(target, server.place);
    });
    afterEach(() => opened?.client.close());
    const key = (name: string): string => `${text}-${name}`;

    test("sends nothing that is counted when it opens and closes", async () => {
      expect(await server.decisions()).toBe(before);
      const other = await openTarget(target, server.place);
      await other.client.close();
      await delay(100);
      expect(await server.decisions()).toBe(before);
      expect(opened.client.settings.request_timeout_ms).toBe(5_000);
    });

    test("admits exactly the points of a key among requests at once, and it counts each of them", async () => {
      const limiter = asRequestLimiter(opened);
      const asked = Array.from({ length: AT_ONCE }, () => limiter.consume(key("once")));
      expect(countOutcomes(await Promise.all(asked))).toEqual({
        allowed: LIMITS.points,
        limited: AT_ONCE - LIMITS.points,
        failed: 0,
      });
      expect(limiter.consumes).toMatchObject({ calls: AT_ONCE, allowed: LIMITS.points });
      expect((await server.decisions()) - before).toBe(AT_ONCE);
    });

    test("takes a denial for a denial, although it is a usual answer, over HTTP one of status 200", async () => {
      for (let n = 0; n < LIMITS.points; n++)
        expect(await opened.standard.consume(key("denied"))).toEqual({ outcome: "allowed" });
      const denied = await opened.standard.consume(key("denied"));
      expect(denied).toMatchObject({ outcome: "limited", limit: LIMITS.points, remaining: 0 });
      if (denied.outcome !== "limited") return;
      expect(denied.msBeforeNext).toBeGreaterThan(0);
      expect(denied.msBeforeNext).toBeLessThanOrEqual((1_000 * LIMITS.window_s) / LIMITS.points);
    });

    test("denies an exhausted key from its first request, and every time", async () => {
      for (let n = 0; n < 3; n++)
        expect((await opened.exhausted.consume(key("none"))).outcome).toBe("limited");
      expect((await server.decisions()) - before).toBe(3);
    });

    test("takes a cost", async () => {
      const half = LIMITS.points / 2;
      const outcomes = [];
      for (const cost of [half, half, half])
        outcomes.push((await opened.standard.consume(key("cost"), cost)).outcome);
      expect(outcomes).toEqual(["allowed", "allowed", "limited"]);
    });

    test.each([
      [2, 86_400],
      [1_000_000_000, 1],
    ])("keeps quotas of %i points in %i s", async (points, window_s) => {
      const other = await openTarget(target, server.place, { points, window_s, block_s: 0 });
      const name = key(`${points}-${window_s}`);
      try {
        expect((await other.standard.consume(name)).outcome).toBe("allowed");
        expect((await other.exhausted.consume(`none-${name}`)).outcome).toBe("limited");
      } finally {
        await other.client.close();
      }
    });

    test("a server that hangs is a failure in time, not an admission", async () => {
      server.pause();
      // All of its threads are to be stopped.
      await delay(100);
      try {
        expect((await opened.standard.consume(key("hangs"))).outcome).toBe("failed");
      } finally {
        server.resume();
      }
      await until(async () => (await opened.standard.consume(key("back"))).outcome !== "failed");
    });
  });

  test("a dead server is a failure in time; after a restart it decides again, and has forgotten all keys", async () => {
    await withOpenTargets(TARGETS, server.place, async (opened) => {
      await server.kill();
      const lost = opened.map(({ standard }) => standard.consume("lost"));
      expect(countOutcomes(await Promise.all(lost))).toMatchObject({ failed: lost.length });
      await server.run();
      for (const { standard } of opened)
        await until(async () => (await standard.consume("back")).outcome !== "failed");
    });
  });

  test("leaves nothing open when it closes", async () => {
    const { code, output } = await useInChildProcess(TARGETS, server.place);
    expect(output).toBe(TARGETS.map((target) => `${target.text} allowed\n`).join(""));
    expect(code).toBe(0);
  });

  test("an address without a server is refused in one line, and nothing stays open", async () => {
    const place = { ...server.place, nodes: [{ host: "127.0.0.1", port: 1, ports: { http: 1, grpc: 1 } }] };
    const { code, output } = await useInChildProcess(TARGETS, place);
    expect(output).toMatch(new RegExp(`^(\\S+ refused: [^\\n]+\\n){${CLIENTS.length}}$`));
    expect(code).toBe(0);
  });

  test.each(["periodic", "probabilistic", "adaptive"])("decides with its store +%s", async (store) => {
    const target = targetOf(`ioredis@throttlecrab+${store}`);
    const other = await TestThrottleCrab.start(["--store", store]);
    try {
      await withOpenTargets([target], other.place, async ([opened]) => {
        expect(opened?.description.storeArguments).toEqual(["--store", store]);
        const asked = Array.from({ length: AT_ONCE }, () => opened?.standard.consume("one"));
        const decided = (await Promise.all(asked)).flatMap((decision) => decision ?? []);
        expect(countOutcomes(decided)).toMatchObject({ allowed: LIMITS.points, failed: 0 });
      });
    } finally {
      await other.kill();
    }
  });
});

describe("a campaign with ThrottleCrab", needs(["throttlecrab"]), () => {
  beforeAll(build);
  const newFolder = temporaryFolders();
  const flags = [
    ...["--duration-mode", "custom:3", "--warmup", "1", "--concurrency", "10"],
    ...["--program", `throttlecrab=${throttlecrabProgram()}`],
  ];

  test("reconciles every decision with its counters, over each protocol", async () => {
    const clients = "ioredis@throttlecrab,throttlecrab-http,throttlecrab-grpc";
    const campaign = Campaign.run(newFolder(), clients, [...flags, "--layer", "server,limiter"]);
    await campaign.endsWell();
    const results = campaign.measured;
    expect(results).toHaveLength(6);
    for (const { verdict, versions, outcome, store } of results) {
      expect(verdict.status).not.toBe("invalid");
      for (const { rule } of [...verdict.reasons, ...verdict.not_applicable]) expect(rule).not.toBe("M8");
      expect(versions.store).toMatch(/^\d+\.\d+\.\d+/);
      expect(outcome).toBe("served");
      expect(store?.nodes[0]?.at_start.decisions).toBe(0);
    }
  });

  test("that dies in the window: the target has failed, and the measurement is no worse for it (M24)", async () => {
    const campaign = Campaign.run(newFolder(), "ioredis@throttlecrab", flags);
    const pid = await campaign.part("store-1");
    await campaign.waitForLog("  measure");
    process.kill(pid, "SIGKILL");
    const { code, stderr } = await campaign.ended;
    const [result] = campaign.measured;
    expect(result?.outcome, stderr).toBe("failed");
    expect(result?.verdict.status).not.toBe("invalid");
    expect(result?.notes.join()).toContain("store-1");
    expect(code).toBe(4);
    expect(await campaign.leftovers()).toEqual([]);
  });
});
