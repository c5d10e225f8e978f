import { describe, expect, test, vi } from "vitest";
import {
  costOfOrder,
  decidable,
  undecidable,
} from "../../../../src/orchestrator/plan/decidable.js";
import { estimateCampaignS, overheadsOf } from "../../../../src/orchestrator/plan/estimate.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { argvOf, DEFAULT_ANSWERS } from "../../../../src/orchestrator/prompt/menu-answers.js";
import { onlyValkey, planFor, requestOf } from "../../../helpers/request.js";

/** Eight targets of one ranking. */
const EIGHT = [
  "iovalkey",
  "ioredis@valkey",
  "valkey-glide",
  "node-redis@valkey",
  "iovalkey+autopipelining",
  "ioredis@valkey+autopipelining",
  "iovalkey~0.3.3",
  "iovalkey~0.3.2",
].join(",");
const found = (clients: string, ...flags: string[]) =>
  decidable(planFor("--clients", clients, "--concurrency", "50", ...flags));

test("the family of a ranking is each target against its reference; the copy is none of them", () => {
  expect(found("iovalkey,valkey-glide,ioredis@valkey,none", "--runs", "10")).toEqual({
    lines: [
      "reference iovalkey + copy: 2 comparisons, paired by round, which 7 rounds can decide",
      expect.stringContaining("10 rounds find a difference of 7.3 %"),
      expect.stringMatching(/^two targets: /),
      expect.stringMatching(/^two versions of a client/),
      expect.stringContaining("spare round"),
    ],
    warnings: [],
  });
});

test("the plan says before the start how many rounds no difference takes, by the reader's margin", () => {
  const sensitivity = (...flags: string[]) =>
    found("iovalkey,valkey-glide", "--runs", "10", ...flags).lines[1];
  expect(sensitivity()).toContain("(± 2 %) would take about 72 rounds");
  expect(sensitivity("--margin", "5%")).toContain("(± 5 %) would take about 14 rounds");
  expect(sensitivity("--order", "interleaved")).toBeUndefined();
  expect(planFor("--clients", "iovalkey", "--margin", "2.5")).toMatchObject({
    margin_percent: 2.5,
  });
});

describe("the plan names what no number of rounds can tell", () => {
  const entriesOf = (...flags: string[]) =>
    undecidable(planFor("--concurrency", "50", "--runs", "10", ...flags));
  const unmeasured = ["start of a turn", "drift", "group size", "order"];

  test("of two targets by turns, whose systematic error was not measured", () => {
    const entries = entriesOf("--clients", "iovalkey,valkey-glide", "--no-copy");
    expect(entries).toEqual(
      ["throughput", "cpu"].map((figure) => ({
        layer: "server",
        pairs: "targets",
        figure,
        smallest_difference_percent: 0,
        unmeasured,
        can_show_no_difference: false,
      })),
    );
  });

  test("of two versions of a client, by what copies show", () => {
    const entries = entriesOf("--clients", "iovalkey,iovalkey~0.3.2", "--layer", "server,limiter");
    expect(new Set(entries.map(({ pairs }) => pairs))).toEqual(new Set(["one program"]));
    for (const { smallest_difference_percent: percent, ...entry } of entries) {
      expect(percent).toBeGreaterThan(0);
      expect(entry).toMatchObject({ unmeasured: [], can_show_no_difference: percent < 2 });
    }
    expect(entries.map(({ layer, figure }) => `${layer} ${figure}`)).toEqual([
      "server throughput",
      "server cpu",
      "limiter throughput",
      "limiter cpu",
    ]);
  });

  test("of a copy, which is one program with its reference", () => {
    const entries = entriesOf("--clients", "iovalkey,valkey-glide");
    expect(entries.map(({ pairs }) => pairs)).toEqual([
      "targets",
      "targets",
      "one program",
      "one program",
    ]);
  });

  test("and nothing in other orders, nor where nothing is compared", () => {
    expect(entriesOf("--clients", "iovalkey,valkey-glide", "--order", "interleaved")).toEqual([]);
    expect(entriesOf("--clients", "iovalkey")).toEqual([]);
  });

  test("in lines that stand only where the rounds decide something", () => {
    const linesOf = (runs: string) =>
      decidable(planFor("--clients", "iovalkey,iovalkey~0.3.2,valkey-glide", "--runs", runs)).lines;
    const about = (lines: string[], who: string) =>
      lines.filter((line) => line.startsWith(`${who}: `));
    for (const who of ["two targets", "two versions of a client, or a target and its copy"])
      expect(about(linesOf("10"), who)).toHaveLength(2);
    expect(linesOf("3")).toHaveLength(1);
  });
});

test.each(["0", "51", "x", "2%%"])("a margin of %s is refused", (margin) => {
  expect(() => requestOf("--clients", "iovalkey", "--margin", margin)).toThrow("--margin");
});

test.each([
  [1, 6],
  [2, 7],
  [3, 7],
  [4, 8],
])(
  "%d comparisons by turns are decided from %d rounds on, and a plain command says so",
  (others, fewest) => {
    const clients = EIGHT.split(",")
      .slice(0, others + 1)
      .join(",");
    expect(found(clients)).toEqual({
      lines: [expect.stringContaining(`--runs ${fewest} `)],
      warnings: [],
    });
    expect(found(clients, "--runs", String(fewest - 1)).warnings).toHaveLength(1);
    expect(found(clients, "--runs", String(fewest)).warnings).toEqual([]);
  },
);

test("where targets do not go by turns a conclusion takes many more minutes", () => {
  const cost = (...flags: string[]) =>
    costOfOrder(planFor("--clients", "iovalkey,valkey-glide", ...flags), { standalone: 2 });
  expect(cost("--order", "turns")).toEqual([]);
  expect(cost("--order", "interleaved", "--runs", "60")).toEqual([]);
  expect(cost("--order", "interleaved")).toEqual([expect.stringMatching(/about \d+ (h|min)/)]);
});

test("a family that is too large for the runs is a warning with the runs that it takes", () => {
  // 7 comparisons: 7 x 2/252 is more than 0.05, 7 x 2/924 is less.
  const flags = ["--order", "consecutive", "--no-copy"];
  const line =
    "reference iovalkey: 7 comparisons, which 5 rounds cannot decide: give --runs 6 or more";
  expect(found(EIGHT, "--runs", "5", ...flags)).toEqual({ lines: [line], warnings: [line] });
  expect(found(EIGHT, "--runs", "6", ...flags).warnings).toEqual([]);
});

test("the family is the one that the plan names", () => {
  const plan = planFor("--clients", EIGHT, "--concurrency", "50", "--runs", "6");
  const rankings = plan.rankings?.map((ranking) => ({ ...ranking, family: 20 }));
  expect(decidable({ ...plan, rankings }).lines).toEqual([
    "reference iovalkey + copy: 20 comparisons, which 6 rounds cannot decide: give --runs 10 or more",
  ]);
});

test("targets that are alone are compared with nothing", () => {
  expect(found("iovalkey,ioredis,none", "--runs", "5")).toEqual({ lines: [], warnings: [] });
});

test.each([
  ["quick", 6],
  ["standard", 15],
  ["publication", 60],
])(
  "preset %s goes by turns, can decide all of its comparisons, and takes at most %d minutes",
  async (preset, most) => {
    // What was learnt on this machine is in no preset.
    vi.stubEnv("XDG_STATE_HOME", "/no/such/folder");
    const plan = makePlan(requestOf("--preset", preset), onlyValkey);
    expect(plan.order).toBe("turns");
    expect(decidable(plan)).toMatchObject({ lines: { length: expect.any(Number) }, warnings: [] });
    expect(decidable(plan).lines).not.toEqual([]);
    for (const runtime of ["local", "docker"])
      expect(estimateCampaignS(plan, await overheadsOf(runtime, "turns")) / 60).toBeLessThanOrEqual(
        most,
      );
  },
);

test("what the menu suggests can decide all of its comparisons", () => {
  const plan = planFor(...argvOf(DEFAULT_ANSWERS));
  expect(decidable(plan).lines).not.toEqual([]);
  expect(decidable(plan).warnings).toEqual([]);
});
