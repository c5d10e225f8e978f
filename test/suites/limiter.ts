import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Target } from "../../src/contract/target.js";
import { sum } from "../../src/kit/numbers.js";
import { modules } from "../../src/targets/modules/index.js";
import { asRequestLimiter } from "../../src/targets/request-limiter.js";
import { findLimiter } from "../../src/targets/resolve.js";
import { moduleArguments } from "../helpers/module-file.js";
import type { Need } from "../helpers/need-names.js";
import { needs } from "../helpers/needs.js";
import { type StoreKind, until } from "../helpers/store.js";
import {
  countOutcomes,
  LIMITS,
  type OpenTarget,
  openTarget,
  removeGlideSockets,
  targetsOf,
  withOpenTargets,
} from "./open-target.js";
import {
  consumeOnDeadStore,
  KEYS,
  LIMITER_STORES,
  leavesNothingOpen,
  readingsOf,
  storeForSuite,
} from "./shared.js";
import type { StoreSetup } from "./store-setup.js";

/** At once on a key of its own. */
const AT_ONCE = 200;

/** What is special about a limiter. */
interface Exceptions {
  /** Topologies in which it is skipped. */
  notIn?: readonly string[];
  /** It decides in the server's memory while the store fails. */
  decidesAlone?: boolean;
  /** Denials of one key that reach the store, of many. */
  denialsInStore?: number;
}

/**
 * What a limiter of a library or of a module must do on each of these clients, on real stores:
 * standalone and in a cluster.
 * @param id an option of targets
 */
export function limiterContract(
  id: string,
  clients: readonly string[] = ["ioredis", "iovalkey"],
  { notIn = [], decidesAlone = false, denialsInStore }: Exceptions = {},
): void {
  const { atomic, cannotExhaust, decisionCommands, takesCost } = findLimiter(id);
  const isModule = modules.some((module) => module.id === id);
  const required = isModule ? [id as Need] : [];
  const targetsOn = (kind: StoreKind, topology: string): Target[] =>
    clients.flatMap((client) => targetsOf(client, kind, topology, [`+${id}`]));

  for (const [kind, topology] of LIMITER_STORES) {
    if (notIn.includes(topology)) {
      test(`is skipped in a ${topology}`, () => expect(targetsOn(kind, topology)).toEqual([]));
      continue;
    }
    describe(`${id} on ${kind} ${topology}`, needs([...required, kind]), () => {
      // RateLimiterValkey calls `server.*`, which Redis does not have.
      const all = targetsOn(kind, topology);
      const setupOf = storeForSuite(kind, topology, isModule ? moduleArguments(id) : []);
      let setup: StoreSetup;
      beforeEach(() => {
        setup = setupOf();
      });

      /** Over all nodes. */
      const decisions = async (): Promise<number> => {
        const readings = await readingsOf(setup, decisionCommands);
        return sum(readings.map((reading) => reading.decisions ?? Number.NaN));
      };

      test("is measured on its clients", () => {
        expect(all.length).toBeGreaterThan(0);
        for (const target of all)
          expect(target).toMatchObject({
            limiter: id,
            decided_by: isModule ? "module" : "library",
          });
      });

      describe.each(all.map((target) => ({ name: target.text, target })))("$name", ({ target }) => {
        let opened: OpenTarget;
        beforeEach(async () => {
          opened = await openTarget(target, setup.place);
          expect((await setup.call("DBSIZE")).map(Number)).toEqual(setup.primaries.map(() => 0));
          await setup.reset();
        });
        afterEach(() => opened?.client.close());

        test("keeps the quota of each key among requests at once, or declares that it does not; the store counts each decision", async () => {
          const limiter = asRequestLimiter(opened);
          const asked = KEYS.flatMap((key) => Array.from({ length: AT_ONCE }, () => key));
          const answers = await Promise.all(asked.map((key) => limiter.consume(key)));
          for (const key of KEYS) {
            const { allowed, failed } = countOutcomes(answers.filter((_, n) => asked[n] === key));
            expect(failed).toBe(0);
            if (atomic) expect(allowed, key).toBe(LIMITS.points);
            else expect(allowed, key).toBeGreaterThan(LIMITS.points);
          }
          const { calls, commands, allowed } = limiter.consumes;
          expect(calls).toBe(asked.length);
          const counted = await decisions();
          if (target.decides_locally) {
            expect(counted).toBeGreaterThanOrEqual(allowed);
            expect(counted).toBeLessThanOrEqual(calls);
          } else expect(counted).toBe(commands ?? calls);
        });

        test("denies beyond the quota, and tells limit and wait", async () => {
          for (let n = 0; n < LIMITS.points; n++)
            expect((await opened.standard.consume("ada")).outcome).toBe("allowed");
          const denied = await opened.standard.consume("ada");
          expect(denied).toMatchObject({ outcome: "limited", limit: LIMITS.points, remaining: 0 });
          if (denied.outcome !== "limited") return;
          expect(denied.msBeforeNext).toBeGreaterThan(0);
          expect(denied.msBeforeNext).toBeLessThanOrEqual(1_000 * LIMITS.window_s);
        });

        test("denies exhausted keys from the first request by commands of the store, or says why it cannot", async () => {
          const decided = [];
          for (let n = 0; n < 3; n++)
            for (const key of KEYS) decided.push(await opened.exhausted.consume(key));
          const denied = { allowed: 0, limited: 3 * KEYS.length, failed: 0 };
          if (cannotExhaust) {
            expect(countOutcomes(decided)).toEqual({
              ...denied,
              limited: 0,
              failed: denied.limited,
            });
            expect(await decisions()).toBe(0);
            return;
          }
          expect(countOutcomes(decided)).toEqual(denied);
          const each = denialsInStore ?? 3 * (id === "bursty" ? 2 : 1);
          expect(await decisions()).toBe(each * KEYS.length);
        });

        if (takesCost)
          test("takes a cost", async () => {
            const half = LIMITS.points / 2;
            const outcomes = [];
            for (const cost of [half, half, half])
              outcomes.push((await opened.standard.consume("ada", cost)).outcome);
            expect(outcomes).toEqual(["allowed", "allowed", "limited"]);
          });

        test("keeps quotas from 1 to 1 000 000 000 points", async () => {
          for (const points of [1, 3, 7, 1_000_000_000]) {
            const other = await openTarget(target, setup.place, {
              points,
              window_s: 60,
              block_s: 0,
            });
            try {
              const outcomes = [];
              for (let n = 0; n < Math.min(points, 10); n++)
                outcomes.push((await other.standard.consume(`quota-${points}`)).outcome);
              expect(outcomes, String(points)).toEqual(outcomes.map(() => "allowed"));
              if (points < 10)
                expect(
                  (await other.standard.consume(`quota-${points}`)).outcome,
                  String(points),
                ).toBe("limited");
              if (!cannotExhaust)
                expect((await other.exhausted.consume("none")).outcome).toBe("limited");
            } finally {
              await other.client.close();
            }
          }
        });

        if (runsScript(id))
          test("continues after its script is flushed", async () => {
            await setup.call("SCRIPT", "FLUSH");
            await setup.call("FUNCTION", "FLUSH");
            const decided = await Promise.all(KEYS.map((key) => opened.standard.consume(key)));
            expect(countOutcomes(decided)).toEqual({ allowed: KEYS.length, limited: 0, failed: 0 });
          });
      });

      // How a client meets a cluster that is gone, and closes, does not depend on its limiter.
      if (topology !== "standalone") return;

      test("a dead store is a failure in time, not a denial; after a restart it decides again", async () => {
        await withOpenTargets(all, setup.place, async (opened) => {
          await consumeOnDeadStore(setup, opened, decidesAlone ? "allowed" : "failed");
          if (decidesAlone)
            for (const { exhausted } of opened)
              expect((await exhausted.consume("ada")).outcome).toBe("limited");
          await setup.run();
          for (const { standard, client } of opened) {
            await until(() => client.storeVersion().then(Boolean, () => false));
            await until(async () => (await standard.consume("back")).outcome !== "failed");
          }
        });
      });

      leavesNothingOpen(setupOf, all);
    });
  }
  // The process of the tests does not end in the way in which the client removes glide's sockets.
  afterAll(() => removeGlideSockets(process.pid));
}

/** Whether it runs a script. */
const runsScript = (id: string): boolean => findLimiter(id).decisionCommands === undefined;
