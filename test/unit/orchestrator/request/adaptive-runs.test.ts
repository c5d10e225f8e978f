import { expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { decisionRounds, firstRoundByTurns } from "../../../../src/orchestrator/plan/decision-rounds.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { expectFailure } from "../../../helpers/errors.js";
import { everything, planFor, requestOf } from "../../../helpers/request.js";

const none = ["--clients", "none"];

test.each([
  [5, [5]],
  [6, [5, 6]],
  [8, [5, 8]],
  [20, [5, 7, 10, 14, 20]],
  [30, [5, 7, 10, 14, 20, 30]],
])("at most %d runs are looked at after %j", (most, looks) => {
  expect(decisionRounds(most)).toEqual(looks);
});

test.each([
  [1, 8],
  [2, 9],
  [3, 10],
  [4, 10],
])(
  "by turns %d comparisons can be decided at the first look's share after %d rounds, and no sooner",
  (comparisons, round) => {
    const clearest = (rounds: number) => comparisons * 2 ** (1 - rounds);
    expect(firstRoundByTurns(comparisons)).toBe(round);
    expect(clearest(round)).toBeLessThanOrEqual(0.008);
    expect(clearest(round - 1)).toBeGreaterThan(0.008);
  },
);

test("by turns the looks begin where the family can be decided; few rounds have one look", () => {
  const clients = ["--clients", "ioredis@valkey,iovalkey,valkey-glide"];
  const plan = (...flags: string[]) => planFor(...clients, "--runs", "auto", "--order", "turns", ...flags);
  expect(plan()).toMatchObject({ order: "turns", adaptive: { looks: [9, 13, 20] } });
  expect(plan("--max-runs", "7").adaptive).toEqual({ looks: [7] });
});

test("--runs auto plans 20 runs at most, --max-runs and --budget others, and a manifest repeats them", () => {
  const request = requestOf(...none, "--runs", "auto");
  expect(request).toMatchObject({ runs: 20, adaptive: {}, settings: { runs: "auto" } });
  expect(makePlan(request, everything).adaptive).toEqual({ looks: [5, 7, 10, 14, 20] });
  const asked = requestOf(...none, "--runs", "auto", "--max-runs", "7", "--budget", "1.5h");
  expect(asked.settings).toMatchObject({ runs: "auto", "max-runs": "7", budget: "1.5h" });
  expect(makePlan(asked, everything).adaptive).toEqual({ looks: [5, 7], budget_s: 5400 });
  expect(planFor(...none)).not.toHaveProperty("adaptive");
});

test.each([
  [["--runs", "3", "--max-runs", "8"], "--max-runs 8 needs --runs auto"],
  [["--preset", "standard", "--budget", "20m"], "--budget 20m needs --runs auto or --find-max-rate"],
  [["--runs", "auto", "--order", "consecutive"], "--order consecutive"],
  [["--runs", "auto", "--max-runs", "4"], "from 5 to 1000"],
  [["--runs", "auto", "--budget", "20"], "with its unit"],
  [["--runs", "auto", "--budget", "0s"], "with its unit"],
  [["--runs", "auto", "--rate", "100"], "an open loop fixes"],
  [["--runs", "automatic"], "or auto"],
])("refused in one line: %j", async (flags, text) => {
  await expectFailure(() => requestOf(...none, ...flags), EXIT.usage, text);
});
