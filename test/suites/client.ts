import { createHash } from "node:crypto";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Target } from "../../src/contract/target.js";
import { sum } from "../../src/kit/numbers.js";
import { common } from "../../src/targets/clients/client-settings.js";
import { describeClient, unsupportedLimits } from "../../src/targets/resolve.js";
import { needs } from "../helpers/needs.js";
import { type StoreKind, storeProgram, until } from "../helpers/store.js";
import {
  allVariants,
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
  leavesNothingOpen,
  sendsNothingAgain,
  storeForSuite,
  survivesManyAtOnce,
  turns,
} from "./shared.js";
import type { StoreSetup } from "./store-setup.js";
import { unavailableStoreContract } from "./unavailable-store.js";

const KINDS: readonly StoreKind[] = ["valkey", "redis", "memcached"];
const TOPOLOGIES = ["standalone", "cluster"];
/** A client finds its way in a cluster of Redis as in one of Valkey. */
const PLACES = KINDS.flatMap((kind) =>
  (kind === "valkey" ? TOPOLOGIES : ["standalone"]).map((topology) => ({ kind, topology })),
);

/** What the store calls RateLimiterRedis's script, from the library itself. */
const sameScript = (): string => {
  const library: unknown = new RateLimiterRedis({ storeClient: {}, points: 1, duration: 1 });
  const { _incrTtlLuaScript: text } = library as { _incrTtlLuaScript: string };
  return createHash("sha1").update(text).digest("hex");
};

/** Whether there is a store, topology and variant to test a client on. */
export const hasContract = (id: string, variants = allVariants()): boolean =>
  PLACES.some(({ kind, topology }) => targetsOf(id, kind, topology, variants).length > 0);

/**
 * What every client must do on every store, topology and option that it resolves for, against real
 * stores. A client's test file calls this and nothing else.
 * @param variants to test: plain (empty) and options (`+id`)
 */
export function clientContract(id: string, variants = allVariants()): void {
  for (const { kind, topology } of PLACES) {
    const targets = targetsOf(id, kind, topology, variants);
    if (targets.length > 0) onStore(kind, topology, targets);
  }
  const kind = KINDS.find(
    (each) => storeProgram(each) && targetsOf(id, each, "standalone", variants).length > 0,
  );
  if (kind) {
    const has = (topology: string) => targetsOf(id, kind, topology, variants).length > 0;
    unavailableStoreContract(id, kind, TOPOLOGIES.filter(has), variants);
  }
  // The process of the tests does not end in the way in which the client removes glide's sockets.
  afterAll(() => removeGlideSockets(process.pid));
}

function onStore(kind: StoreKind, topology: string, targets: readonly Target[]): void {
  describe(`on ${kind} ${topology}`, needs([kind]), () => {
    const setupOf = storeForSuite(kind, topology);
    let setup: StoreSetup;
    beforeEach(() => {
      setup = setupOf();
    });

    describe.each(targets.map((target) => ({ name: target.text, target })))(
      "$name",
      ({ target }) => {
        let opened: OpenTarget;
        beforeEach(async () => {
          opened = await openTarget(target, setup.place);
          await setup.reset();
        });
        afterEach(() => opened?.client.close());

        test("leaves no key when it opens, and its script is on every primary under the reported name", async () => {
          expect([...(await setup.keys()).keys()]).toEqual([]);
          const { kind, name_or_sha1: name } = opened.script ?? {};
          expect(opened.script !== undefined).toBe(setup.hasScripts);
          if (!setup.hasScripts) return;
          if (kind === "fcall") {
            for (const list of await setup.call("FUNCTION", "LIST"))
              expect(JSON.stringify(list)).toContain(name);
          } else {
            expect(new Set((await setup.call("SCRIPT", "EXISTS", String(name))).flat())).toEqual(
              new Set([1]),
            );
          }
          if (target.options.includes("same-script")) expect(name).toBe(sameScript());
        });

        test("has the settings that its target asks for, speaks the reported protocol, and reports client and store version", async () => {
          const { settings } = opened.client;
          expect(await setup.version()).toBe(await opened.client.storeVersion());
          expect(opened.client.version).toMatch(/^\d+\.\d+\.\d+/);
          if (kind === "memcached") {
            expect(settings).toMatchObject({
              protocol: "memcached text",
              request_timeout_ms: common.requestTimeoutMs,
            });
            return;
          }
          const origin = opened.description.settings;
          const resp = origin && target.client !== "iovalkey" ? 3 : 2;
          expect(settings.protocol).toBe(`RESP${resp}`);
          if (origin)
            expect(settings).toMatchObject({ connect_timeout_ms: "default", read_from: "default" });
          else
            expect(settings).toMatchObject({
              request_timeout_ms: common.requestTimeoutMs,
              connect_timeout_ms: common.connectTimeoutMs,
              reconnect_delay_ms: common.reconnectDelayMs,
              read_from: "primary",
            });
          if (target.options.includes("autopipelining"))
            expect(settings.auto_pipelining).toBe(true);
          for (const node of setup.primaries) {
            const connections = async () => {
              const list = await node.ask(async (store) => String(await store.client("LIST")));
              // The replicas' and our own connections are not the client's.
              return list.split("\n").filter((line) => /cmd=(?!client|replconf|psync)/.test(line));
            };
            // valkey-glide keeps connections for a while after it is closed.
            const earlier = new Set((await connections()).map((line) => line.split(" ")[0]));
            const another = await openTarget(target, setup.place);
            const own = (await connections()).filter((line) => !earlier.has(line.split(" ")[0]));
            await another.client.close();
            expect(own.length).toBeGreaterThan(0);
            for (const line of own) expect(line).toContain(`resp=${resp}`);
          }
        });

        test("admits exactly the points of each key among concurrent consumes; the store counts each consume once", async () => {
          const asked = turns(3 * LIMITS.points);
          const decisions = await Promise.all(asked.map((key) => opened.standard.consume(key)));
          for (const key of KEYS) {
            const own = decisions.filter((_, n) => asked[n] === key);
            const ends = { allowed: LIMITS.points, limited: 2 * LIMITS.points, failed: 0 };
            expect(countOutcomes(own)).toEqual(ends);
          }
          expect(sum(await setup.decisions())).toBe(asked.length);
          if (!setup.hasScripts) return;
          const calls = await setup.scriptCalls();
          const own = opened.script?.kind ?? "eval";
          expect(sum(calls.map((node) => node[own]))).toBe(asked.length);
          // No other command carried a script, and every shard took part.
          for (const node of calls)
            expect(node).toEqual({ eval: 0, evalsha: 0, fcall: 0, [own]: node[own] });
          expect(Math.min(...calls.map((node) => node[own]))).toBeGreaterThan(0);
        });

        test("sets the window on every key, including exhausted ones", async () => {
          for (const key of [...KEYS, ...KEYS]) await opened.standard.consume(key);
          const denied = await opened.exhausted.consume("zoe");
          expect(denied).toMatchObject({ outcome: "limited", limit: LIMITS.points, remaining: 0 });
          const keys = await setup.keys();
          expect([...keys.keys()].sort()).toEqual([...KEYS, "zoe"].map((key) => `rl:${key}`));
          for (const [key, { value, ttl_ms }] of keys) {
            expect(value).toBe(key === "rl:zoe" ? 1 : 2);
            expect(ttl_ms).toBeGreaterThan(0);
            expect(ttl_ms).toBeLessThanOrEqual(LIMITS.window_s * 1_000);
          }
        });

        const rejects = target.client === "valkey-glide" && target.text.includes("+defaults");
        if (kind !== "redis") survivesManyAtOnce(setupOf, () => opened, { rejects });

        // memcached has no scripts.
        if (kind !== "memcached")
          test("continues after its script is flushed without counting a consume twice, or declares that it fails", async () => {
            await setup.call("SCRIPT", "FLUSH");
            await setup.call("FUNCTION", "FLUSH");
            const asked = turns(5);
            for (const round of [1, 2]) {
              const decisions = await Promise.all(asked.map((key) => opened.standard.consume(key)));
              const expected = opened.description.survivesScriptFlush ? "allowed" : "failed";
              const ends = { allowed: 0, limited: 0, failed: 0, [expected]: asked.length };
              expect(countOutcomes(decisions)).toEqual(ends);
              const values = [...(await setup.keys()).values()].map(({ value }) => value);
              expect(values).toEqual(expected === "allowed" ? KEYS.map(() => 5 * round) : []);
            }
          });
      },
    );

    test("a block has the given length, with each limiter that supports blocks", async () => {
      const limits = { points: 1, window_s: 60, block_s: 4_000 };
      for (const target of targets.filter((target) => !unsupportedLimits(target, limits))) {
        await setup.reset();
        const { client, standard } = await openTarget(target, setup.place, limits);
        try {
          await standard.consume("ada");
          const denied = await standard.consume("ada");
          expect(denied, target.text).toMatchObject({
            outcome: "limited",
            msBeforeNext: 4_000_000,
          });
          expect((await setup.keys()).get("rl:ada")?.ttl_ms, target.text).toBeGreaterThan(60_000);
        } finally {
          await client.close();
        }
      }
    });

    // How a client meets a store that hangs or is gone is the same for a Valkey and a Redis.
    if (kind === "redis") return;

    if (topology === "standalone")
      sendsNothingAgain(setupOf, targets, async (target) => {
        const times = describeClient(target).sendsAgain ? 2 : 1;
        expect((await setup.keys()).get("rl:ada")?.value, target.text).toBe(times);
      });

    test("a dead store is a failure, not a denial; after a restart the client behaves as declared", async () => {
      await withOpenTargets(targets, setup.place, async (opened) => {
        const { waiting } = await consumeOnDeadStore(setup, opened);
        await setup.run();
        expect(countOutcomes(await Promise.all(waiting)).limited).toBe(0);
        for (const { client, standard, description, target } of opened) {
          await until(() => client.storeVersion().then(Boolean, () => false));
          const consume = async () => (await standard.consume("back")).outcome;
          if (description.survivesStoreRestart)
            await until(async () => (await consume()) !== "failed");
          else
            expect([await consume(), await consume()], target.text).toEqual(["failed", "failed"]);
        }
      });
    });

    leavesNothingOpen(setupOf, targets);
  });
}
