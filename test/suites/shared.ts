import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { StoreReading } from "../../src/contract/store.js";
import type { Target } from "../../src/contract/target.js";
import { sum } from "../../src/kit/numbers.js";
import { findStore } from "../../src/targets/resolve.js";
import { findEngine } from "../../src/targets/stores/engines.js";
import type { Decision } from "../../src/targets/target-types.js";
import { type StoreKind, until } from "../helpers/store.js";
import {
  countOutcomes,
  glideSockets,
  type OpenTarget,
  useInChildProcess,
  withOpenTargets,
} from "./open-target.js";
import { LossyProxy } from "./proxy.js";
import { StoreSetup } from "./store-setup.js";

/** Their slots are on all three primaries of a cluster. */
export const KEYS = ["ada", "bob", "cyd", "dan", "eve", "fay", "gus"];

/** `times` of each key, in turns. */
export const turns = (times: number): string[] => Array.from({ length: times }, () => KEYS).flat();

/** Where limiters that clients have by an option are tried. No client reads from replicas. */
export const LIMITER_STORES = [
  ["valkey", "standalone"],
  ["valkey", "cluster-3"],
] as const;

/** A store for all tests of a suite, empty before each. @param more arguments of its program */
export function storeForSuite(
  kind: StoreKind,
  topology: string,
  more: readonly string[] = [],
): () => StoreSetup {
  let setup: StoreSetup;
  beforeAll(async () => {
    setup = await StoreSetup.start(kind, topology, more);
  });
  beforeEach(() => setup.reset());
  afterAll(() => setup?.stop());
  return () => setup;
}

/** The counters of each node as the harness reads them. */
export async function readingsOf(
  { place }: StoreSetup,
  decisionCommands: readonly string[] | undefined,
): Promise<StoreReading[]> {
  const session = await findEngine("resp").connect(place.nodes, {});
  try {
    await session.ready("standalone", performance.now() + 120_000);
    return await session.read(findStore(place.store), decisionCommands);
  } finally {
    session.close();
  }
}

/**
 * @param rejects the client rejects some of so many: by default glide has at most 1000 commands in
 *   flight
 */
export function survivesManyAtOnce(
  setupOf: () => StoreSetup,
  openedOf: () => OpenTarget,
  { rejects = false } = {},
): void {
  test("handles 2000 concurrent consumes while the store pauses for a moment", async () => {
    const setup = setupOf();
    setup.pause();
    const consumes = Array.from({ length: 2_000 }, (_, n) =>
      openedOf().standard.consume(`many-${n}`),
    );
    // They are to pile up on the connections, not in this turn of the event loop.
    await delay(50);
    setup.resume();
    const counts = countOutcomes(await Promise.all(consumes));
    expect(counts.limited).toBe(0);
    expect(counts.failed > 0).toBe(rejects);
  });
}

/**
 * For a standalone store: the nodes of a cluster are named by itself, so nothing can stand between.
 * @param expectCounted with how often the consume whose reply was lost, and the one after it, were
 *   counted
 */
export function sendsNothingAgain(
  setupOf: () => StoreSetup,
  targets: readonly Target[],
  expectCounted: (target: Target) => Promise<void>,
): void {
  test("a consume whose reply is lost fails and is not sent again, unless declared", async () => {
    const setup = setupOf();
    const proxy = await LossyProxy.start(setup.nodes[0]?.port ?? 0);
    const place = { ...setup.place, nodes: [{ host: "127.0.0.1", port: proxy.port }] };
    try {
      for (const target of targets) {
        await withOpenTargets([target], place, async ([opened]) => {
          await setup.reset();
          proxy.loseNextReply();
          const expected = opened?.description.sendsAgain ? "allowed" : "failed";
          expect((await opened?.standard.consume("ada"))?.outcome, target.text).toBe(expected);
          // On the new connection: what is sent again would have come first.
          await until(async () => (await opened?.standard.consume("bob"))?.outcome === "allowed");
        });
        await expectCounted(target);
      }
    } finally {
      proxy.stop();
    }
  });
}

/**
 * @param lost outcome of every consume on a dead store, but of those whose client waits for it
 * @returns the consumes that wait
 */
export async function consumeOnDeadStore(
  setup: StoreSetup,
  opened: readonly OpenTarget[],
  lost: "failed" | "allowed" = "failed",
): Promise<{ waiting: readonly Promise<Decision>[] }> {
  await setup.kill();
  const consumesOf = (waits: boolean) =>
    opened
      .filter(({ description }) => waits === Boolean(description.waitsForStore))
      .flatMap(({ standard }) => KEYS.map((key) => standard.consume(key)));
  const [waiting, asked] = [consumesOf(true), consumesOf(false)];
  const ends = { allowed: 0, limited: 0, failed: 0, [lost]: asked.length };
  expect(countOutcomes(await Promise.all(asked))).toEqual(ends);
  return { waiting };
}

export function leavesNothingOpen(setupOf: () => StoreSetup, targets: readonly Target[]): void {
  test("leaves nothing open when it closes: no handle, no connection and no socket", async () => {
    const setup = setupOf();
    const { code, output, pid } = await useInChildProcess(targets, setup.place);
    expect(output).toBe(targets.map(({ text }) => `${text} allowed\n`).join(""));
    expect(code).toBe(0);
    expect(glideSockets(pid)).toEqual([]);
    await until(async () => sum(await setup.connections()) === 0);
  });
}
