import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import {
  type DecidingStore,
  decidingProgram,
  TestDecidingServer,
} from "../helpers/deciding-server.js";
import { temporaryFolders } from "../helpers/folders.js";
import { validCampaign } from "../helpers/measured-campaign.js";
import { needs } from "../helpers/needs.js";
import { build } from "../helpers/programs.js";
import { until } from "../helpers/store.js";
import { targetOf } from "../helpers/target.js";
import { countOutcomes, LIMITS, openRequestLimiter, useInChildProcess } from "./open-target.js";

export const AT_ONCE = 300;

type Opened = Awaited<ReturnType<typeof openRequestLimiter>>;

/** What the suite hands to the tests of one client; read within a test. */
export interface OpenDecider {
  text: string;
  server(): TestDecidingServer;
  opened(): Opened;
}

/**
 * What a store that decides itself, and each client on it, keeps.
 * @param measured clients of a campaign: each protocol and algorithm
 * @param wait_s the longest time that a denial may name
 * @param more tests of one client
 */
export function decidingServerContract(
  id: DecidingStore,
  clients: readonly string[],
  measured: readonly string[],
  wait_s: (text: string) => number,
  more?: (opened: OpenDecider) => void,
): void {
  const targets = clients.map((text) => targetOf(text));

  describe(id, needs([id]), () => {
    let server: TestDecidingServer;
    beforeAll(async () => {
      server = await TestDecidingServer.start(id);
    });
    afterAll(() => server?.kill());

    describe.each(clients)("by %s", (text) => {
      const target = targetOf(text);
      let opened: Opened;
      /** Before the client was opened. */
      let before: number;
      beforeEach(async () => {
        before = await server.decisions();
        opened = await openRequestLimiter(target, server.place);
      });
      afterEach(() => opened?.client.close());
      const key = (name: string): string => `${text}-${name}`;

      test("sends nothing that is counted when it opens and closes", async () => {
        expect(await server.decisions()).toBe(before);
        const other = await openRequestLimiter(target, server.place);
        await other.client.close();
        await delay(100);
        expect(await server.decisions()).toBe(before);
        expect(opened.client.settings.request_timeout_ms).toBe(5_000);
      });

      test("admits exactly the points of a key among requests at once, and it counts each of them", async () => {
        const asked = Array.from({ length: AT_ONCE }, () => opened.limiter.consume(key("once")));
        const ends = { allowed: LIMITS.points, limited: AT_ONCE - LIMITS.points, failed: 0 };
        expect(countOutcomes(await Promise.all(asked))).toEqual(ends);
        expect(opened.limiter.consumes).toMatchObject({ calls: AT_ONCE, allowed: LIMITS.points });
        expect((await server.decisions()) - before).toBe(AT_ONCE);
      });

      test("takes a denial for a denial, although it is a usual answer, over HTTP one of status 200", async () => {
        for (let n = 0; n < LIMITS.points; n++)
          expect(await opened.limiter.consume(key("denied"))).toEqual({ outcome: "allowed" });
        const denied = await opened.limiter.consume(key("denied"));
        expect(denied).toMatchObject({ outcome: "limited", limit: LIMITS.points, remaining: 0 });
        if (denied.outcome !== "limited") return;
        expect(denied.msBeforeNext).toBeGreaterThan(0);
        expect(denied.msBeforeNext).toBeLessThanOrEqual(1_000 * wait_s(text));
      });

      test("denies an exhausted key from its first request, and every time", async () => {
        for (let n = 0; n < 3; n++)
          expect((await opened.limiter.consume(`exhausted-${key("none")}`)).outcome).toBe(
            "limited",
          );
        expect((await server.decisions()) - before).toBe(3);
      });

      test("takes a cost", async () => {
        const half = LIMITS.points / 2;
        const outcomes = [];
        for (const cost of [half, half, half])
          outcomes.push((await opened.limiter.consume(key("cost"), cost)).outcome);
        expect(outcomes).toEqual(["allowed", "allowed", "limited"]);
      });

      test.each([
        [2, 86_400],
        [1_000_000_000, 1],
      ])("keeps quotas of %i points in %i s", async (points, window_s) => {
        const other = await openRequestLimiter(target, server.place, {
          points,
          window_s,
          block_s: 0,
        });
        const name = key(`${points}-${window_s}`);
        try {
          expect((await other.limiter.consume(name)).outcome).toBe("allowed");
          expect((await other.limiter.consume(`exhausted-${name}`)).outcome).toBe("limited");
        } finally {
          await other.client.close();
        }
      });

      more?.({ text, server: () => server, opened: () => opened });
    });

    test("a server that hangs, or is dead, is a failure in time, not an admission; after a restart it decides again, and has forgotten all keys", async () => {
      const opened: Opened[] = [];
      const allFail = async (key: string) => {
        const lost = opened.map(({ limiter }) => limiter.consume(key));
        expect(countOutcomes(await Promise.all(lost))).toMatchObject({ failed: lost.length });
      };
      try {
        for (const target of targets) opened.push(await openRequestLimiter(target, server.place));
        server.pause();
        // All of its threads are to be stopped.
        await delay(100);
        await allFail("hung");
        server.resume();
        for (const { limiter } of opened)
          await until(
            async () => (await limiter.consume("lost", LIMITS.points)).outcome !== "failed",
          );
        await server.kill();
        await allFail("lost");
        await server.run();
        for (const [n, { limiter }] of opened.entries()) {
          await until(async () => (await limiter.consume(`back-${n}`)).outcome !== "failed");
          expect((await limiter.consume("lost")).outcome).toBe("allowed");
        }
      } finally {
        for (const { client } of opened) await client.close();
      }
    });

    test("leaves nothing open when it closes", async () => {
      const { code, output } = await useInChildProcess(targets, server.place);
      expect(output).toBe(targets.map((target) => `${target.text} allowed\n`).join(""));
      expect(code).toBe(0);
    });

    test("an address without a server is refused in one line, and nothing stays open", async () => {
      const place = {
        ...server.place,
        nodes: [{ host: "127.0.0.1", port: 1, ports: { http: 1, grpc: 1 } }],
      };
      const { code, output } = await useInChildProcess(targets, place);
      expect(output).toMatch(new RegExp(`^(\\S+ refused: [^\\n]+\\n){${clients.length}}$`));
      expect(code).toBe(0);
    });
  });

  describe(`a campaign with ${id}`, needs([id]), () => {
    beforeAll(build);
    const newFolder = temporaryFolders();
    const flags = ["--program", `${id}=${decidingProgram(id)}`];

    test("reconciles every decision with its counters", async () => {
      const campaign = await validCampaign(newFolder(), measured.join(), [
        ...flags,
        "--duration-mode",
        "requests:1000",
        "--warmup",
        "0.1",
      ]);
      const results = campaign.measured;
      expect(results).toHaveLength(measured.length);
      for (const { verdict, versions, outcome, store } of results) {
        for (const { rule } of [...verdict.reasons, ...verdict.not_applicable])
          expect(rule).not.toBe("M8");
        expect(versions.store).toMatch(/^\d+\.\d+\.\d+/);
        expect(outcome).toBe("served");
        expect(store?.nodes[0]?.at_start.decisions).toBe(0);
      }
    });

    test("that dies in the window: the target has failed, and the measurement is no worse for it (M24)", async () => {
      const campaign = Campaign.run(newFolder(), clients[0] ?? "", [
        ...flags,
        "--duration-mode",
        "custom:3",
      ]);
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
}
