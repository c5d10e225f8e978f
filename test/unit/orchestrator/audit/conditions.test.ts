import { expect, test } from "vitest";
import type { SentRequest } from "../../../../src/contract/sender.js";
import { Answers } from "../../../../src/orchestrator/audit/answers.js";
import { exitCodeOf } from "../../../../src/orchestrator/audit/audit.js";
import { clocksOutcome } from "../../../../src/orchestrator/audit/checks/clocks-apart.js";
import { admittedAgain } from "../../../../src/orchestrator/audit/checks/eviction.js";
import { prefixOutcome } from "../../../../src/orchestrator/audit/checks/ipv6-prefix.js";

const T = 1_700_000_000_000;
const steady = (seen: number) => ({ seen, least: 96, most: 104, requests: 226, seconds: 9 });

test.each([
  [96, "holds"],
  [104, "holds"],
  [105, "broken"],
  [95, "broken"],
])("with clocks apart %i admissions of 96 to 104: %s", (seen, status) => {
  expect(clocksOutcome(steady(seen), steady(100))).toMatchObject({
    status,
    admissions: { seen, least: 96, most: 104 },
  });
});

test("a limiter that is wrong with one clock, too, is told apart from one that clocks break", () => {
  const seen = (alone: number) => clocksOutcome(steady(20), steady(alone)).seen;
  expect([seen(30), seen(100)].map((text) => text?.includes("one clock"))).toEqual([true, false]);
});

/** Requests on two keys at once, of which so many are admitted. */
const answers = (at: number, admitted: number): Answers =>
  new Answers(
    [0, 1].flatMap((group) =>
      Array.from(
        { length: 40 },
        (_, n): SentRequest => ({
          group,
          server: 0,
          sent_ms: T + at,
          answered_ms: T + at + 20,
          status: n < admitted ? 200 : 429,
        }),
      ),
    ),
  );

test("a used-up key is admitted again for what its algorithm gives back meanwhile, and no more", () => {
  const limits = { points: 20, window_s: 60, block_s: 0 };
  const both = [answers(0, 20), answers(7500, 20)] as const;
  expect(admittedAgain("fixed window", limits, both, 2)).toEqual({ seen: 40, least: 0, most: 0 });
  // A point comes back every 3 s, and one more may count for either burst.
  expect(admittedAgain("GCRA", limits, both, 2)).toEqual({ seen: 40, least: 2, most: 6 });
  expect(admittedAgain("fixed window", { ...limits, window_s: 5 }, both, 2).most).toBe(40);
});

test.each([
  { in64: 20, in56: 20, neighbours: [20, 20], seen: "/56", status: "holds" },
  { in64: 20, in56: 40, neighbours: [20, 20], seen: "/64", status: "holds" },
  { in64: 40, in56: 40, neighbours: [20, 20], seen: "not at all", status: "broken" },
  { in64: 20, in56: 20, neighbours: [20, 0], seen: "wider than /56", status: "broken" },
])("clients by prefix: $seen", ({ in64, in56, neighbours, seen, status }) => {
  const burst = (admitted: number) => ({ seen: admitted, least: 20, most: 20 });
  const outcome = prefixOutcome({ in64: burst(in64), in56: burst(in56) }, neighbours.map(burst));
  expect(outcome).toMatchObject({ seen, status });
});

test("what no limiter promises leaves the exit code of a full audit alone, and counts where it is named", () => {
  const finding = { check: "eviction", status: "broken" as const, seconds: 1 };
  const counts = { holds: 0, broken: 1, skipped: 0, failed: 0 };
  const document = { counts, targets: [{ findings: [finding] }] } as never;
  expect(exitCodeOf(document, [{ id: "eviction", condition: true }])).toBe(0);
  expect(exitCodeOf(document, [{ id: "eviction", condition: false }])).toBe(6);
});
