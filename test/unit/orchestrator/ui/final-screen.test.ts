import { describe, expect, test } from "vitest";
import type { CampaignEvent } from "../../../../src/contract/events.js";
import { CampaignState } from "../../../../src/orchestrator/ui/campaign-state.js";
import { finalLines, problemLines } from "../../../../src/orchestrator/ui/final-screen.js";
import { Frame, liveLines, type Size } from "../../../../src/orchestrator/ui/live-screen.js";
import { widthOf } from "../../../../src/orchestrator/ui/text.js";
import { CapturedOutput, EventFixture, planOf, STARTED_MS } from "../../../helpers/events.js";

const WIDE = Number.POSITIVE_INFINITY;
const FOLDER = "/results/20260101_120000";
const PATHS = [`report: ${FOLDER}/report/index.html`, `log: ${FOLDER}/benchmark.log`];

function storyOf(events: readonly CampaignEvent[]): CampaignState {
  const state = new CampaignState();
  for (const event of events) state.add(event);
  return state;
}

describe("the final lines", () => {
  const tell = new EventFixture();
  test("are what the report says first, and the paths of report and log", () => {
    const screen = ["iovalkey  ◆  reference", "evil \u001b[31m name"];
    const lines = finalLines(
      storyOf([tell.campaign(), { ...tell.report(), screen }, tell.ended()]),
      WIDE,
    );
    expect(lines[0]).toBe(screen[0]);
    expect(lines.join("")).not.toContain("\u001b");
    expect(lines.slice(-2)).toEqual(PATHS);
  });

  test("of a search are its results, and missed rates are no problems", () => {
    const interval = { low: 1000, high: 1030 };
    const row = {
      label: "iovalkey",
      estimate_per_second: 1015,
      interval,
      sentence: "what was found",
    };
    const invalid = (rule: string) =>
      tell.finished(1, {
        status: "invalid",
        reasons: [{ rule, severity: "invalid", text: "why" }],
      });
    const missed = [
      invalid("M5"),
      tell.finished(2, { outcome: "overloaded", outcome_text: "too much" }),
    ];
    const search = tell.campaign({ objectives: ["p99<10ms"] });
    const end = [{ ...tell.report(), max_rate: [row] }, tell.ended()];
    const state = storyOf([search, ...missed, ...end]);
    expect(finalLines(state, WIDE)).toEqual([row.sentence, ...PATHS]);
    expect(problemLines(state)).toEqual([]);
    expect(problemLines(storyOf([search, invalid("M8"), ...end])).join()).toContain("M8");
    // Another campaign with these runs has problems.
    expect(problemLines(storyOf([tell.campaign(), ...missed, tell.ended()]))).not.toEqual([]);
  });
});

test("the problem lines say one problem of a round once, however many targets it spoiled", () => {
  const tell = new EventFixture(planOf("--runs", "1", "--clients", "iovalkey,ioredis@valkey"));
  const numbers = [1, 2];
  const still = { rule: "M36", severity: "invalid" as const, text: "stood still" };
  const state = storyOf([
    tell.campaign(),
    ...numbers.map((number) => tell.started(number)),
    ...numbers.map((number) => tell.finished(number, { status: "invalid", reasons: [still] })),
    tell.ended(),
  ]);
  expect(problemLines(state).filter((line) => line.includes("stood still"))).toEqual([
    expect.stringMatching(/iovalkey.*, run 1; ioredis@valkey.*, run 1: invalid: M36 stood still$/),
  ]);
});

describe("the problem lines", () => {
  const tell = new EventFixture(planOf("--runs", "9", "--order", "consecutive"));
  const invalid = (number: number) =>
    tell.finished(number, {
      status: "invalid",
      reasons: [{ rule: "M9", severity: "invalid", text: `reason ${number}` }],
    });

  test("group failures by reason, show the first few, count the rest, and name the remedy", () => {
    const lines = problemLines(
      storyOf([
        tell.campaign(),
        ...Array.from({ length: 9 }, (_, index) => tell.started(index + 1)),
        ...[1, 2].map((number) => tell.failed(number, "server: gone")),
        ...[3, 4, 5, 6, 7, 8].map(invalid),
        tell.finished(9),
        tell.report(),
        tell.ended({ exit_code: 4, runs: { valid: 1, invalid: 6, failed: 2 } }),
      ]),
    );
    expect(lines.slice(0, 2).map((line) => line.slice(0, 6))).toEqual(["2 of 9", "6 of 9"]);
    expect(lines.filter((line) => line.includes("server: gone"))).toEqual([
      expect.stringContaining("1, 2:"),
    ]);
    expect(lines.filter((line) => line.includes("M9 reason"))).toHaveLength(4);
    expect(lines.at(-4)).toContain("2 more");
    expect(lines.at(-2)).toContain("run-all.sh --resume 20260101_120000 --output /results");
    expect(lines.at(-1)).toContain("exit code 4");
  });

  test("say the problem of a round once, with all its targets", () => {
    const round = new EventFixture(planOf("--clients", "iovalkey,none", "--runs", "7"));
    const reasons = [{ rule: "M36", severity: "invalid" as const, text: "it stood still" }];
    const numbers = [1, 2, 3];
    const lines = problemLines(
      storyOf([
        round.campaign(),
        ...numbers.map((number) => round.started(number)),
        ...numbers.map((number) => round.finished(number, { status: "invalid", reasons })),
        round.ended({ exit_code: 5, runs: { invalid: 3 } }),
      ]),
    );
    const [told, ...again] = lines.filter((line) => line.includes("it stood still"));
    expect(again).toEqual([]);
    for (const target of ["iovalkey,", "none,"]) expect(told).toContain(target);
    expect(lines.at(-1)).toContain("exit code 5");
  });

  test("count suspect, spoiled and kept runs", () => {
    const reasons = [{ rule: "M6", severity: "suspect" as const, text: "saturated" }];
    const failed = { outcome: "failed" as const, outcome_text: "why" };
    const lines = problemLines(
      storyOf([
        tell.campaign(),
        tell.kept(4, "invalid"),
        tell.finished(1, { status: "suspect", reasons }),
        tell.finished(2, failed),
        tell.finished(3),
        tell.report(),
        tell.ended({ exit_code: 5, runs: { valid: 2, suspect: 1, kept: 1 } }),
      ]),
    ).join("\n");
    for (const part of [/1 of 4 .*invalid/, /load in 1 of 4/, /1 of 4 .*suspect \(M6\)/])
      expect(lines).toMatch(part);
  });

  test("after an interruption name what is kept, and the command that builds its report", () => {
    const aborted = (number: number) =>
      tell.finished(number, { status: "aborted", figures: undefined });
    const ended = (folder: string) =>
      tell.ended({ exit_code: 130, folder, runs: { valid: 1, aborted: 1, not_begun: 7 } });
    const runs = [tell.campaign(), tell.finished(1), aborted(2)];
    const partial = problemLines(storyOf([...runs, tell.report(), ended(FOLDER)])).join();
    for (const part of ["partial", "1 of 9", FOLDER]) expect(partial).toContain(part);
    const unbuilt = problemLines(storyOf([...runs, ended("/my results/20260101_120000")]), 40);
    expect(unbuilt.at(-1)).toBe("  ./scripts/generate_report.py '/my results/20260101_120000'");
    expect(problemLines(storyOf([tell.campaign(), aborted(1), ended(FOLDER)]))).toHaveLength(1);
  });

  test("are empty if everything went well or nothing started", () => {
    expect(
      problemLines(storyOf([tell.campaign(), tell.finished(1), tell.report(), tell.ended()])),
    ).toEqual([]);
    expect(problemLines(storyOf([tell.ended({ exit_code: 3, folder: undefined })]))).toEqual([]);
  });
});

const tell = new EventFixture();

function linesAt(
  second: number,
  events: readonly CampaignEvent[],
  size: Partial<Size> = {},
): string[] {
  const state = new CampaignState();
  for (const event of events) state.add(event);
  const full = { columns: 80, rows: 24, ...size };
  return liveLines(state, STARTED_MS + 1000 * second, full).map(({ text }) => text);
}

const measuring = [
  tell.campaign(),
  tell.started(1),
  tell.phase("measure", 10, 10),
  tell.second(20),
];

describe("the live screen", () => {
  test("has time left, the configuration, the phase and every live figure", () => {
    const text = linesAt(20, measuring).join("\n");
    for (const part of [
      /^\[#+-+\] {2}0\/2 runs {2}20 % {2}80 s left \(until \d\d:\d\d\)$/m,
      /^iovalkey, light, realistic, 8 connections, run 1 of 2$/m,
      /^measure {2}\[#+\] {2}10 of 10 s$/m,
      /5012 requests\/s {2}p99 12\.31 ms {2}10\.0 % limited/,
      /generator 45 % busy/,
      /server 78 % busy \(CPU 96 %\)/,
    ])
      expect(text).toMatch(part);
  });

  test("by turns has the targets of the round, and the one whose second it was", () => {
    const tell = new EventFixture(planOf("--clients", "iovalkey,valkey-glide", "--runs", "1"));
    const runs = [tell.started(1), tell.started(2)];
    const events = [
      tell.campaign(),
      tell.round("round_started"),
      ...runs,
      tell.phase("measure", 10, 10),
    ];
    const at = (second: number, ...more: CampaignEvent[]) =>
      linesAt(second, [...events, ...more]).join("\n");
    const labels = runs.map(({ configuration }) => configuration.target.label);
    for (const label of labels) expect(at(10)).toContain(label);
    expect(at(20, tell.second(20))).toContain(`${labels[0]}: 5012 requests/s`);
    expect(
      at(20, tell.finished(1), tell.finished(2), tell.round("round_finished", 20)),
    ).not.toContain(labels[0]);
  });

  test("counts the time left down between events, never below zero", () => {
    expect(linesAt(25, measuring).join()).toContain("75 s left");
    expect(linesAt(5000, measuring).join()).toContain("0 s left");
  });

  test("hides old figures, and shows since when there are none", () => {
    expect(linesAt(22, measuring).join()).toContain("5012 requests/s");
    const late = linesAt(24, measuring).join();
    expect(late).not.toContain("5012");
    expect(late).toContain("no figures for 4 s");
  });

  test("never shows figures of an earlier run or phase", () => {
    const next = [
      ...measuring,
      tell.finished(1),
      tell.started(2, 20),
      tell.phase("measure", 20, 10),
    ];
    expect(linesAt(20, next).join()).not.toContain("5012");
  });

  test.each([
    [80, 24],
    [40, 24],
    [20, 24],
    [5, 4],
    [1, 1],
    [200, 60],
  ])(
    "fits into %i columns and %i rows, also with a huge label of wide characters",
    (columns, rows) => {
      const plan = planOf();
      const [planned] = plan.configurations;
      if (!planned) throw new Error("a configuration");
      planned.configuration.target.label = `${"漢字".repeat(50)}${"x".repeat(100)}`;
      const huge = new EventFixture(plan);
      const events = [
        huge.campaign(),
        huge.started(1),
        huge.phase("measure", 10, 10),
        huge.second(20),
      ];
      const lines = linesAt(20, events, { columns, rows });
      expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
      for (const line of lines) expect(widthOf(line)).toBeLessThan(Math.max(2, columns));
    },
  );

  test("escapes control characters in names", () => {
    const plan = planOf();
    const [planned] = plan.configurations;
    if (!planned) throw new Error("a configuration");
    planned.configuration.target.label = "evil\x1b[2J\r\n\u202egpj";
    const hostile = new EventFixture(plan);
    const text = linesAt(1, [hostile.campaign(), hostile.started(1)]).join("\n");
    expect(text).toContain("evil\\x1b[2J\\x0d\\x0a\\u202egpj");
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202e]/u);
  });
});

test("the frame can be removed and drawn again, as for Ctrl-Z", () => {
  const out = new CapturedOutput(true);
  const frame = new Frame(out);
  for (let round = 0; round < 2; round++) {
    frame.draw(["one", "two"]);
    frame.remove();
  }
  expect(out.text.split("\x1b[?25l")).toHaveLength(3);
  expect(out.text.split("\x1b[?25h")).toHaveLength(3);
  expect(out.text.endsWith("\x1b[?25h")).toBe(true);
});
