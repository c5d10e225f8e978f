import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { sum } from "../../src/contract/numbers.js";
import type { Target } from "../../src/contract/target.js";
import { findModule } from "../../src/targets/modules/index.js";
import { moduleArguments } from "../helpers/module-file.js";
import { type Need, needs } from "../helpers/needs.js";
import { type StoreKind, storeProgram, until } from "../helpers/store.js";
import {
  countOutcomes,
  LIMITS,
  type OpenTarget,
  openTarget,
  removeGlideSockets,
  targetsOf,
  useInChildProcess,
  withOpenTargets,
} from "./open-target.js";
import {
  consumeOnDeadStore,
  KEYS,
  LIMITER_STORES,
  leavesNothingOpen,
  readingsOf,
  sendsNothingAgain,
  storeForSuite,
  survivesManyAtOnce,
  turns,
} from "./shared.js";
import { StoreSetup } from "./store-setup.js";
import { unavailableStoreContract } from "./unavailable-store.js";

/**
 * What every client must do with a module's limiter, against real stores that have loaded it.
 * @param id of the module
 */
export function moduleContract(id: Need & string, clients: readonly string[]): void {
  const { command } = findModule(id);
  const targetsOn = (kind: StoreKind, topology: string): Target[] =>
    clients.flatMap((client) => targetsOf(client, kind, topology, [`+${id}`]));

  for (const [kind, topology] of LIMITER_STORES) {
    describe(`${id} on ${kind} ${topology}`, needs([id, kind]), () => {
      const targets = targetsOn(kind, topology);
      const setupOf = storeForSuite(kind, topology, moduleArguments(id));
      let setup: StoreSetup;
      beforeEach(() => {
        setup = setupOf();
      });

      /** Decisions on each primary. */
      const decisions = async (): Promise<number[]> => {
        const counted = (await readingsOf(setup, [command])).map(
          (reading) => reading.decisions ?? Number.NaN,
        );
        // A decision of a primary must not count again on its replica.
        expect(sum(counted.slice(3))).toBe(0);
        return counted.slice(0, 3);
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

        survivesManyAtOnce(setupOf, () => opened);

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

      if (topology === "standalone")
        sendsNothingAgain(setupOf, targets, async (target) => {
          expect(sum(await decisions()), target.text).toBe(2);
        });

      test("a dead store is a failure, not a denial; after a restart it decides again", async () => {
        await withOpenTargets(targets, setup.place, async (opened) => {
          await consumeOnDeadStore(setup, opened);
          await setup.run();
          for (const { standard } of opened)
            await until(async () => (await standard.consume("back")).outcome !== "failed");
        });
      });

      leavesNothingOpen(setupOf, targets);
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
