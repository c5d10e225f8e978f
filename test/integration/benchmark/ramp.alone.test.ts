import { beforeAll, describe, expect, test } from "vitest";
import type { MeasuredResult } from "../../../src/contract/result.js";
import { build, measured } from "../../helpers/programs.js";
import { StubServer } from "../../helpers/stub-server.js";

beforeAll(build);

/** Longer than the shortest automatic warm-up: one that always took 3 s would end inside the ramp. */
const RAMP_S = 4;

const rulesOf = ({ verdict }: MeasuredResult): string[] => verdict.reasons.map(({ rule }) => rule);

describe("a server that takes three times as long at first (M26)", () => {
  let short: MeasuredResult;
  let auto: MeasuredResult;

  beforeAll(async () => {
    const run = async (warmup: string) => {
      const stub = await StubServer.startForHook({ delay_ms: 20, jitter: 0.5, ramp_from: 3, ramp_s: RAMP_S });
      const env = { TARGET_URL: stub.url, DURATION: "4", WARMUP: warmup, CONNECTIONS: "40" };
      return measured(env).finally(() => stub.kill());
    };
    [short, auto] = await Promise.all([run("0.3"), run("auto")]);
  });

  test("a warm-up of given length is exact, and the ramp in the window is told", () => {
    expect(short.request.warmup_s).toBe(0.3);
    expect(short.warmup.steady).toBeUndefined();
    expect(short.warmup.took_s).toBeLessThan(RAMP_S);
    expect(rulesOf(short)).toContain("M26");
    expect(short.verdict.reasons.find(({ rule }) => rule === "M26")?.severity).toBe("suspect");
  });

  test("`auto` outlasts the ramp, ends once it is steady, and the window is not flagged", () => {
    expect(auto.request.warmup_s).toBe("auto");
    expect(auto.warmup.took_s).toBeGreaterThan(RAMP_S);
    expect(auto.warmup.took_s).toBeLessThan(10);
    expect(auto.warmup.steady).toBe(true);
    expect(auto.warmup.requests).toBeGreaterThanOrEqual(1_000);
    expect(rulesOf(auto)).not.toContain("M26");
  });
});
