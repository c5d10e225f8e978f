import { expect, test } from "vitest";
import { type Gates, gatePage, gatesSchema } from "../../../bench/gate-page.js";
import { remainingHeads } from "../../../bench/remaining-heads.js";

type Gate = Gates["gates"][number];

const gate = (head: Gate["head"], verdict: Gate["verdict"], fails: boolean, minutes = 8): Gate => ({
  machine: "a CPU, 2 CPUs",
  node: "24.0.0",
  measured_at: "2026-01-02T03:04:05.000Z",
  head,
  verdict,
  headline: "2 % faster",
  minutes,
  naive: { before_per_second: 9000, after_per_second: fails ? 8000 : 9100, fails },
});

test("a row of each kind counts verdicts, and what a job before and after says", () => {
  const document = gatesSchema.parse({
    package: "rate-limiter-flexible",
    gates: [
      gate("equal", "passes", true, 6),
      gate("equal", "passes", false, 7),
      gate("equal", "not decided", true, 12),
      gate("slower", "fails", false),
      gate("off-by-one", "fails", false),
    ],
  });
  const rows = gatePage(document)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .slice(2)
    .map((line) =>
      line
        .split("|")
        .slice(2, -1)
        .map((cell) => Number(cell)),
    );
  expect(rows).toEqual([
    [3, 2, 0, 1, 7, 2],
    [1, 0, 1, 0, 8, 0],
    [1, 0, 1, 0, 8, 0],
  ]);
  const onlyEqual = { ...document, gates: document.gates.slice(0, 1) };
  expect(gatePage(onlyEqual)).not.toContain("one more");
});

test("a bench that was interrupted measures what is missing, a kind after the other", () => {
  const gates: Pick<Gate, "head">[] = [{ head: "equal" }];
  const measuredNow: string[] = [];
  for (const head of remainingHeads(gates, { equal: 4, slower: 2, "off-by-one": 0 })) {
    measuredNow.push(head);
    gates.push({ head });
  }
  expect(measuredNow).toEqual(["slower", "equal", "equal", "slower", "equal"]);
});
