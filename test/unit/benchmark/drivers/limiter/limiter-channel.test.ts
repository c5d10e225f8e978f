import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Channel } from "../../../../../src/benchmark/drivers/connection-pool.js";
import {
  type ConsumingLimiter,
  KeySource,
  type Keys,
  limiterChannels,
} from "../../../../../src/benchmark/drivers/limiter/limiter-channel.js";
import {
  DecisionLog,
  RequestCounter,
} from "../../../../../src/benchmark/measurement/decision-log.js";
import type { Decision } from "../../../../../src/targets/target-types.js";
import { FRESH_KEY } from "../../../../../src/traffic/traffic-types.js";

const stream = { next: () => 0 };

/** One channel to this limiter, and what it reported. */
function openChannel(decider: ConsumingLimiter) {
  const counts = { begun: 0, finished: 0 };
  const events: string[] = [];
  const open = limiterChannels(
    decider,
    { requests: [["key"]], streams: [stream], first: 0 },
    counts,
  );
  const channel = open(0, {
    ready: () => void events.push("ready"),
    answered: (outcome, code) => void events.push(`${outcome} ${code}`),
    lost: () => void events.push("lost"),
  });
  return { channel, counts, events };
}

describe("a channel to a limiter", () => {
  test.each([
    ["allowed", 0],
    ["limited", 1],
    ["failed", 2],
  ] as const)("reports %s with code %i, and is ready again", async (outcome, code) => {
    const { channel, events } = openChannel({ consume: async () => ({ outcome }) as Decision });
    expect(events).toEqual([]);
    await nextTurn();
    channel.send();
    await nextTurn();
    expect(events).toEqual(["ready", `${outcome} ${code}`, "ready"]);
  });

  test("is ready after an abandoned consume, whose decision is only counted when it comes", async () => {
    const pending: ((decision: Decision) => void)[] = [];
    const { channel, counts, events } = openChannel({
      consume: () => new Promise((resolve) => void pending.push(resolve)),
    });
    await nextTurn();
    channel.send();
    channel.abandon();
    await nextTurn();
    channel.send();
    pending[0]?.({ outcome: "allowed" });
    await nextTurn();
    expect({ events, counts }).toEqual({
      events: ["ready", "ready"],
      counts: { begun: 2, finished: 1 },
    });
    pending[1]?.({ outcome: "allowed" });
    await nextTurn();
    expect({ events, counts }).toEqual({
      events: ["ready", "ready", "allowed 0", "ready"],
      counts: { begun: 2, finished: 2 },
    });
  });

  test("gives timers their turn, although the limiter decides at once", async () => {
    let [sent, isStopped] = [0, false];
    const channels: Channel[] = [];
    const send = (index: number): void => {
      if (isStopped) return;
      sent++;
      channels[index]?.send();
    };
    const decider: ConsumingLimiter = { consume: async () => ({ outcome: "allowed" }) };
    const requests = { requests: [["key"]] as const, streams: [stream, stream], first: 0 };
    const open = limiterChannels(decider, requests, { begun: 0, finished: 0 });
    for (const index of [0, 1]) {
      channels.push(open(index, { ready: () => send(index), answered: () => {}, lost: () => {} }));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    isStopped = true;
    expect(sent).toBeGreaterThan(100);
  });
});

describe("the keys of a channel", () => {
  const keysOf = (
    requests: readonly (readonly [string, ...string[]])[],
    connection: number,
  ): Keys[] => {
    const counts = new RequestCounter(requests.length).connection();
    const source = new KeySource(requests, stream, connection, counts);
    return [source.next(), source.next()];
  };

  test("are one key, or all of a request", () => {
    expect(keysOf([["user-1"]], 0)).toEqual(["user-1", "user-1"]);
    expect(keysOf([["user-1", "user-2"]], 0)[0]).toEqual(["user-1", "user-2"]);
  });

  test("that are fresh are never the same, over requests and connections, and have one length", () => {
    const fresh = [0, 1, 10, 9_999]
      .flatMap((connection) => keysOf([[FRESH_KEY, FRESH_KEY]], connection))
      .flat();
    expect(new Set(fresh).size).toBe(16);
    expect(new Set(fresh.map(({ length }) => length))).toEqual(new Set([FRESH_KEY.length]));
  });
});

test("a log gets each decision with the wait that it names, and not those that failed", async () => {
  const decisions: Decision[] = [
    { outcome: "allowed" },
    { outcome: "limited", limit: 1, remaining: 0, msBeforeNext: 250 },
    { outcome: "failed", error: new Error("broken") },
  ];
  const log = new DecisionLog(10);
  let next = 0;
  const decider = { consume: async () => decisions[next++] as Decision };
  const open = limiterChannels(
    decider,
    { requests: [["other"], ["key"]], streams: [{ next: () => 1 }], first: 0, log },
    { begun: 0, finished: 0 },
  );
  const channel = open(0, { ready: () => {}, answered: () => {}, lost: () => {} });
  await nextTurn();
  for (const _ of decisions) {
    channel.send();
    await nextTurn();
  }
  const { which, outcome, wait_ms, sent_ms, answered_ms, missed } = log.columns();
  expect([[...which], [...outcome], [...wait_ms], missed]).toEqual([
    [1, 1, 1],
    [1, 2, 0],
    [Number.NaN, 250, Number.NaN],
    0,
  ]);
  expect(answered_ms[0]).toBeGreaterThanOrEqual(sent_ms[0] ?? Number.NaN);
  expect(answered_ms[2]).toBe(Number.POSITIVE_INFINITY);
});
