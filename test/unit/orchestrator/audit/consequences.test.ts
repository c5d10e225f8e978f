import { expect, test } from "vitest";
import type { Finding } from "../../../../src/contract/audit.js";
import { auditExitCode, countsOf } from "../../../../src/orchestrator/audit/audit-counts.js";
import { checks } from "../../../../src/orchestrator/audit/checks/index.js";
import {
  brokenBurst,
  consequencesText,
  findingOf,
  judgedAgain,
  type MadeOutcome,
} from "../../../../src/orchestrator/audit/consequences.js";

const checkOf = (id: string) => {
  const check = checks.find((each) => each.id === id);
  if (!check) throw new Error(`there is no check ${id}`);
  return check;
};
const outcome = (
  status: MadeOutcome["status"],
  members: Partial<MadeOutcome> = {},
): MadeOutcome => ({
  status,
  limits: { points: 20, window_s: 2, block_s: 0 },
  seconds: 1,
  ...members,
});
const VALKEY = { store: "valkey" };
const BURST: Finding = { check: "exact-burst", status: "broken", seconds: 1 };

test.each([
  ["eviction", "valkey"],
  ["clocks-2-s", "redis"],
  ["key-without-end", "memcached"],
  ["exact-burst-4-servers", "memory"],
])("nobody promises %s on %s: it is told, and is neither kept nor broken", (id, store) => {
  const findings = (["broken", "holds"] as const).map((status) =>
    findingOf(checkOf(id), { store }, outcome(status, { seen: "200: 200 over" }), undefined),
  );
  expect(findings.map(({ status, holds, seen }) => [status, holds, seen])).toEqual([
    ["not-promised", false, "200: 200 over"],
    ["not-promised", true, "200: 200 over"],
  ]);
  const counts = countsOf([{ findings }]);
  expect(counts).toEqual({
    holds: 0,
    broken: 0,
    consequences: 0,
    not_promised: 2,
    skipped: 0,
    failed: 0,
  });
  expect(auditExitCode({ counts })).toBe(0);
});

test("what is promised is kept or broken, and a broken promise ends with 6", () => {
  const broken = findingOf(checkOf("exact-burst-4-servers"), VALKEY, outcome("broken"), undefined);
  expect(broken.status).toBe("broken");
  const counts = countsOf([{ findings: [broken] }]);
  expect(auditExitCode({ counts })).toBe(6);
  expect(auditExitCode({ counts: { ...counts, failed: 1 } })).toBe(4);
});

test("where a burst is wrong by changing numbers, what counts bursts follows from it", () => {
  const counted = outcome("broken", { countsBursts: true });
  const edge = findingOf(checkOf("window-edge"), VALKEY, counted, BURST);
  const headers = findingOf(checkOf("headers"), VALKEY, outcome("broken"), BURST);
  expect([edge.consequence_of, headers.consequence_of]).toEqual(["exact-burst", undefined]);
  expect(countsOf([{ findings: [BURST, edge, headers] }])).toMatchObject({
    broken: 2,
    consequences: 1,
  });
});

test("where every burst has the same excess, the others are judged by quota and excess together", () => {
  const burst: Finding = { ...BURST, excess: 1 };
  const first = findingOf(
    checkOf("hostile-keys"),
    VALKEY,
    outcome("broken", { seen: "0 pairs" }),
    burst,
  );
  // Only the second judgement tells.
  expect(first.consequence_of).toBeUndefined();
  const follows = judgedAgain(first, outcome("holds", { seen: "15 pairs" }), burst);
  expect(follows).toMatchObject({
    status: "broken",
    consequence_of: "exact-burst",
    seen: "15 pairs",
  });
  expect(follows.notes?.join()).toContain("21");
  const own = judgedAgain(first, outcome("broken", { seen: "merged" }), burst);
  expect([own.consequence_of, own.seen]).toEqual([undefined, "merged"]);
  expect(judgedAgain(first, outcome("failed", { reason: "gone" }), burst)).toBe(first);
  expect(consequencesText([burst, follows, own], burst)).toBe(
    "all of these admit quota + 1: hostile-keys",
  );
});

test("the burst on one server is the defect; the one on several only where the other was not tried", () => {
  const several: Finding = { ...BURST, check: "exact-burst-4-servers" };
  const by = (...findings: Finding[]) =>
    brokenBurst(new Map(findings.map((each) => [each.check, each])));
  expect(by(BURST, several)?.check).toBe("exact-burst");
  expect(by(several)?.check).toBe("exact-burst-4-servers");
  expect(by({ ...BURST, status: "holds" }, several)).toBeUndefined();
  expect(by({ ...BURST, status: "failed" }, several)?.check).toBe("exact-burst-4-servers");
});
