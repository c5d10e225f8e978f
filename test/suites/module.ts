import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sum } from "../../src/contract/numbers.js";
import type { Target } from "../../src/contract/target.js";
import { findModule } from "../../src/targets/modules/index.js";
import { findStore } from "../../src/targets/resolve.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import { moduleArguments } from "../helpers/module-file.js";
import { LONG, type Need, needs } from "../helpers/needs.js";
import { type StoreKind, storeProgram, until } from "../helpers/store.js";
import {
  countOutcomes,
  glideSockets,
  LIMITS,
  type OpenTarget,
  openTarget,
  removeGlideSockets,
  targetsOf,
  useInChildProcess,
  withOpenTargets,
} from "./open-target.js";
import { LossyProxy } from "./proxy.js";
import { StoreSetup } from "./store-setup.js";
import { unavailableStoreContract } from "./unavailable-store.js";

/** Their slots are on all three primaries of a cluster. */
const KEYS = ["ada", "bob", "cyd", "dan", "eve", "fay", "gus"];

/** `times` of each key, in turns. */
const turns = (times: number): string[] => Array.from({ length: times }, () => KEYS).flat();

/**
 * What every client must do with a module's limiter, against real stores that have loaded it.
 * @param id of the module
 */
export function moduleContract(id: Need & string, clients: readonly string[]): void {
  const { command } = findModule(id);
  const targetsOn = (kind: StoreKind, topology: string): Target[] =>
    clients.flatMap((client) => targetsOf(client, kind, topology, [`+${id}`]));

  for (const [kind, topology] of [
    ["valkey", "standalone"],
    ["redis", "standalone"],
    ["valkey", "cluster"],
  ] as const) {
    const { tags, skip } = needs([id, kind]);
    // Clients meet the same command on both stores: `npm test` tries it on Valkey.
    const options = { tags: [...tags, ...(kind === "redis" ? LONG.tags : [])], skip };
    describe(`${id} on ${kind} ${topology}`, options, () => {
      const targets = targetsOn(kind, topology);
      let setup: StoreSetup;
      beforeAll(async () => {
        setup = await StoreSetup.start(kind, topology, moduleArguments(id));
      });
      beforeEach(() => setup.reset());
      afterAll(() => setup?.stop());

      /** Decisions as the harness reads them, on each primary. */
      const decisions = async (): Promise<number[]> => {
        const session = await findEngine("resp").connect(setup.place.nodes, {});
        try {
          await session.ready("standalone", Date.now() + 10_000);
          const readings = await session.read(findStore(kind), [command]);
          // A decision of a primary must not count again on its replica.
          const [primaries, replicas] = [3, 6].map((end) => readings.slice(end - 3, end));
          expect(sum((replicas ?? []).map((reading) => reading.decisions ?? Number.NaN))).toBe(0);
          return (primaries ?? []).map((reading) => reading.decisions ?? Number.NaN);
        } finally {
          session.close();
        }
      };

      test("is measured on all clients", () => {
        expect(targets.map(({ client }) => client)).toEqual(clients);
        for (const target of targets) expect(target).toMatchObject({ decided_by: "module", module: id });
      });

      describe.each(targets.map((target) => ({ name: target.text, target })))("$name", ({ target }) => {
        let opened: OpenTarget;
        beforeEach(async () => {
          opened = await openTarget(target, setup.place);
          await until(async () => (await setup.keys()).size === 0);
        });
        afterEach(() => opened?.client.close());

        test("leaves no key when it opens, and needs no script", async () => {
          expect([...(await setup.keys()).keys()]).toEqual([]);
          expect(opened.script).toBeUndefined();
        });

        test("admits exactly the points of each key among concurrent consumes; the store counts each consume once", async () => {
          await setup.reset();
          const asked = turns(5 * LIMITS.points);
          const answers = await Promise.all(asked.map((key) => opened.standard.consume(key)));
          for (const key of KEYS) {
            const own = answers.filter((_, n) => asked[n] === key);
            expect(countOutcomes(own), key).toEqual({
              allowed: LIMITS.points,
              limited: 4 * LIMITS.points,
              failed: 0,
            });
          }
          const counted = await decisions();
          expect(sum(counted)).toBe(asked.length);
          expect(Math.min(...counted)).toBeGreaterThan(0);
          const fresh = await Promise.all(
            Array.from({ length: 1_000 }, () => opened.standard.consume("one")),
          );
          expect(countOutcomes(fresh)).toEqual({ allowed: LIMITS.points, limited: 980, failed: 0 });
        });

        test("names limit, rest and wait in a denial", async () => {
          const half = LIMITS.points / 2;
          expect(await opened.standard.consume("ada", half)).toEqual({ outcome: "allowed" });
          const denied = await opened.standard.consume("ada", half + 1);
          expect(denied).toMatchObject({ outcome: "limited", limit: LIMITS.points });
          if (denied.outcome !== "limited") return;
          expect(denied.remaining).toBeLessThanOrEqual(half);
          expect(denied.msBeforeNext).toBeGreaterThan(0);
          expect(denied.msBeforeNext).toBeLessThanOrEqual(1_000 * LIMITS.window_s);
          expect(await opened.standard.consume("ada", half)).toEqual({ outcome: "allowed" });
          expect((await opened.standard.consume("ada")).outcome).toBe("limited");
        });

        test("denies an exhausted key from its first consume, at the cost of one command", async () => {
          await setup.reset();
          for (const key of KEYS) {
            expect(await opened.exhausted.consume(key)).toEqual({
              outcome: "limited",
              limit: LIMITS.points,
              remaining: 0,
              msBeforeNext: 1_000 * LIMITS.window_s,
            });
          }
          expect(sum(await decisions())).toBe(KEYS.length);
        });

        test("keeps every quota from 1 to 1 000 000 000 points, and every window", async () => {
          for (const limits of [
            { points: 1, window_s: 1, block_s: 0 },
            { points: 1, window_s: 86_400, block_s: 0 },
            { points: 1_000_000_000, window_s: 60, block_s: 0 },
          ]) {
            await setup.reset();
            const other = await openTarget(target, setup.place, limits);
            try {
              const { outcome } = await other.standard.consume("ada");
              expect(outcome, JSON.stringify(limits)).toBe("allowed");
              expect((await other.exhausted.consume("bob")).outcome).toBe("limited");
              if (limits.window_s > 1) {
                const second = limits.points === 1 ? "limited" : "allowed";
                expect((await other.standard.consume("ada")).outcome, JSON.stringify(limits)).toBe(second);
              }
            } finally {
              await other.client.close();
            }
          }
        });

        test("handles 2000 concurrent consumes while the store pauses for a moment", async () => {
          setup.pause();
          const consumes = Array.from({ length: 2_000 }, (_, n) => opened.standard.consume(`many-${n}`));
          // They are to pile up on the connections, not in this turn of the event loop.
          await delay(50);
          setup.resume();
          expect(countOutcomes(await Promise.all(consumes))).toEqual({
            allowed: 2_000,
            limited: 0,
            failed: 0,
          });
        });

        test("does not notice that scripts are flushed", async () => {
          expect(opened.description).toMatchObject({ survivesScriptFlush: true, survivesStoreRestart: true });
          await setup.call("SCRIPT", "FLUSH");
          const decided = await Promise.all(KEYS.map((key) => opened.standard.consume(key)));
          expect(countOutcomes(decided)).toEqual({ allowed: KEYS.length, limited: 0, failed: 0 });
        });
      });

      if (topology === "cluster")
        test.each(["ioredis", "iovalkey"])(
          "a command of %s without a key is answered by any node, so that more than the quota is admitted",
          async (client) => {
            const target = targets.find((each) => each.client === client);
            if (!target) throw new Error(`no target of ${client}`);
            await withOpenTargets([target], setup.place, async ([opened]) => {
              const handle = opened?.client.handle as {
                call(command: string, ...words: string[]): Promise<unknown>;
              };
              const words = id === "redis-cell" ? ["4", "5", "600", "1"] : ["5", "600", "1"];
              const unrouted = await Promise.all(
                Array.from({ length: 200 }, () => handle.call(command, "planted", ...words)),
              );
              const admitted = unrouted.filter((reply) =>
                Array.isArray(reply) ? reply[0] === 0 : Number(reply) >= 0,
              );
              expect(admitted.length).toBeGreaterThan(5);
              // Each node counts for itself with redis-cell. With redis-shield a node that does not own the key admits all:
              // it is refused what it asks the node itself, and takes that for a fresh key.
              if (id === "redis-cell") expect(admitted).toHaveLength(3 * 5);
              else expect(admitted.length).toBeGreaterThan(3 * 5);
            });
          },
        );

      // The nodes of a cluster are named by itself: nothing can stand between.
      if (topology === "standalone")
        test("a consume whose reply is lost fails and is not sent again", async () => {
          const proxy = await LossyProxy.start(setup.nodes[0]?.port ?? 0);
          const place = { ...setup.place, nodes: [{ host: "127.0.0.1", port: proxy.port }] };
          try {
            for (const target of targets) {
              await withOpenTargets([target], place, async ([opened]) => {
                await setup.reset();
                proxy.loseNextReply();
                expect((await opened?.standard.consume("ada"))?.outcome, target.text).toBe("failed");
                // On the new connection: what is sent again would have come first.
                await until(async () => (await opened?.standard.consume("bob"))?.outcome === "allowed");
              });
              expect(sum(await decisions()), target.text).toBe(2);
            }
          } finally {
            proxy.stop();
          }
        });

      test("a dead store is a failure, not a denial; after a restart it decides again", async () => {
        await withOpenTargets(targets, setup.place, async (opened) => {
          await setup.kill();
          const lost = opened.flatMap(({ standard }) => KEYS.map((key) => standard.consume(key)));
          expect(countOutcomes(await Promise.all(lost))).toEqual({
            allowed: 0,
            limited: 0,
            failed: lost.length,
          });
          await setup.run();
          for (const { standard } of opened)
            await until(async () => (await standard.consume("back")).outcome !== "failed");
        });
      });

      test("leaves nothing open when it closes: no handle, no connection and no socket", async () => {
        const { code, output, pid } = await useInChildProcess(targets, setup.place);
        expect(output).toBe(targets.map(({ text }) => `${text} allowed\n`).join(""));
        expect(code).toBe(0);
        expect(glideSockets(pid)).toEqual([]);
        await until(async () => sum(await setup.connections()) === 0);
      });
    });
  }

  const { tags, skip } = needs([id]);
  describe(`${id} without its store`, { tags, skip: skip || !storeProgram("valkey") }, () => {
    describe.each(clients)("%s", (client) => {
      unavailableStoreContract(client, "valkey", ["standalone"], [`+${id}`], moduleArguments(id));
    });
    test("is refused in one line by a store that has not loaded it", async () => {
      const setup = await StoreSetup.start("valkey", "standalone");
      try {
        const { output, code } = await useInChildProcess(targetsOn("valkey", "standalone"), setup.place);
        expect(output.trimEnd().split("\n")).toEqual(
          clients.map((name) =>
            expect.stringMatching(new RegExp(`^${name}\\S* refused: [^\\n]*unknown command`, "i")),
          ),
        );
        expect(code).toBe(0);
      } finally {
        await setup.stop();
      }
    });
  });
  // The process of the tests does not end in the way in which the client removes glide's sockets.
  afterAll(() => removeGlideSockets(process.pid));
}
