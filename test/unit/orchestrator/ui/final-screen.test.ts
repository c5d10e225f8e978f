import { describe, expect, test } from "vitest";
import type { CampaignEvent } from "../../../../src/contract/events.js";
import { CampaignState } from "../../../../src/orchestrator/ui/campaign-state.js";
import { finalLines, problemLines } from "../../../../src/orchestrator/ui/final-screen.js";
import { widthOf } from "../../../../src/orchestrator/ui/text.js";
import { EventFixture, planOf } from "../../../helpers/events.js";

const WIDE = Number.POSITIVE_INFINITY;

function storyOf(events: readonly CampaignEvent[]): CampaignState {
  const state = new CampaignState();
  for (const event of events) state.add(event);
  return state;
}

describe("the final lines", () => {
  const many = new EventFixture(
    planOf("--clients", "iovalkey,ioredis@valkey,iovalkey:cluster,none", "--concurrency", "8,16"),
  );
  const labels = many.plan.configurations.map(({ configuration: { target, load } }) => ({
    label: target.label,
    connections: load.connections,
  }));
  const isControl = labels.map(({ label }) => ({ control: label === "none" }));

  test("have medians with their range, and the paths of report and log", () => {
    const tell = new EventFixture();
    const lines = finalLines(storyOf([tell.campaign(), tell.report(), tell.ended()]), WIDE);
    expect(lines.join("\n")).toContain(
      "standalone · valkey · light · realistic · 8 connections · 10 s\n" +
        "  iovalkey  5000/s (4900–5100)  p50 1.50 ms  p99 12.25 ms  2 of 2 usable\n",
    );
    expect(lines.slice(-2)).toEqual([
      "report: /results/20260101_120000/report/index.html",
      "log: /results/20260101_120000/benchmark.log",
    ]);
  });

  test("of a search are its results, and missed rates are no problems", () => {
    const tell = new EventFixture();
    const sentence = "iovalkey: 1,015/s is the highest rate that keeps p99<10ms.";
    const row = {
      label: "iovalkey",
      estimate_per_second: 1015,
      interval: { low: 1000, high: 1030 },
      sentence,
    };
    const missed = [
      tell.finished(1, { status: "invalid", reasons: [{ rule: "M5", severity: "invalid", text: "late" }] }),
      tell.finished(2, { outcome: "overloaded", outcome_text: "too much" }),
    ];
    const end = [{ ...tell.report(), max_rate: [row] }, tell.ended()];
    const state = storyOf([tell.campaign({ objectives: ["p99<10ms"] }), ...missed, ...end]);
    expect(finalLines(state, WIDE)).toEqual([
      sentence,
      "report: /results/20260101_120000/report/index.html",
      "log: /results/20260101_120000/benchmark.log",
    ]);
    expect(problemLines(state)).toEqual([]);
    const broken = [{ rule: "M8", severity: "invalid" as const, text: "counts differ" }];
    const other = storyOf([
      tell.campaign({ objectives: ["p99<10ms"] }),
      tell.finished(1, { status: "invalid", reasons: broken }),
      ...end,
    ]);
    expect(problemLines(other).join("\n")).toContain("M8 counts differ");
    // Another campaign with these runs has problems.
    expect(problemLines(storyOf([tell.campaign(), ...missed, tell.ended()])).join("\n")).toContain("invalid");
  });

  test("rank only comparable configurations together", () => {
    const lines = finalLines(storyOf([many.campaign(), many.report(isControl), many.ended()]), WIDE);
    const titles = lines.filter((line) => line.includes(" · "));
    expect(titles.sort()).toEqual([
      "cluster · valkey · light · realistic · 16 connections · 10 s",
      "cluster · valkey · light · realistic · 8 connections · 10 s",
      "controls · light · realistic · 16 connections · 10 s",
      "controls · light · realistic · 8 connections · 10 s",
      "standalone · valkey · light · realistic · 16 connections · 10 s",
      "standalone · valkey · light · realistic · 8 connections · 10 s",
    ]);
    const group = lines.slice(
      lines.indexOf("standalone · valkey · light · realistic · 8 connections · 10 s"),
    );
    const rates = group.slice(1, 3).map((line) => Number(/ (\d+)\/s/.exec(line)?.[1]));
    expect(rates).toEqual([...rates].sort((a, b) => b - a));
    expect(group.slice(1, 3).join()).toMatch(/ioredis@valkey/);
  });

  test("name missing figures instead of printing a zero", () => {
    const tell = new EventFixture();
    const none = {
      valid_runs: 0,
      served_runs: 0,
      requests_per_second: null,
      latency_p50_ms: null,
      latency_p99_ms: null,
      verdict: null,
    };
    const text = (change: object) =>
      finalLines(storyOf([tell.campaign(), tell.report([{ ...none, ...change }]), tell.ended()]), WIDE).join(
        "\n",
      );
    expect(text({})).toMatch(/iovalkey {2}no valid run {2}.*0 of 2 usable/);
    expect(text({ runs: 0, missing_runs: 2 })).toMatch(/iovalkey {2}not run {2}.*0 of 2 usable/);
    expect(text({})).not.toMatch(/\b0(\.0+)? ms|\b0\/s/);
  });

  test("fit into 40 columns, except paths, which stay whole", () => {
    const lines = finalLines(storyOf([many.campaign(), many.report(isControl), many.ended()]), 40);
    const wide = lines.filter((line) => widthOf(line) > 40);
    expect(wide.every((line) => line.includes("/results/"))).toBe(true);
    expect(lines.join("\n")).toContain("p99 12.25 ms");
  });
});

describe("the problem lines", () => {
  const tell = new EventFixture(planOf("--runs", "9", "--order", "consecutive"));
  const invalid = (number: number, text: string) =>
    tell.finished(number, { status: "invalid", reasons: [{ rule: "M9", severity: "invalid", text }] });

  test("group failures by reason, show the first few, and count the rest", () => {
    const events = [
      tell.campaign(),
      ...Array.from({ length: 9 }, (_, index) => tell.started(index + 1)),
      tell.failed(1, "server: gone"),
      tell.failed(2, "server: gone"),
      ...[3, 4, 5, 6, 7, 8].map((number) => invalid(number, `${number} failed answers`)),
      tell.finished(9),
      tell.report(),
      tell.ended({ exit_code: 4, runs: { valid: 1, invalid: 6, failed: 2 } }),
    ];
    const what = "  iovalkey, light, realistic, 8 connections";
    expect(problemLines(storyOf(events))).toEqual([
      "2 of 9 runs failed",
      "6 of 9 runs are invalid",
      `${what}, runs 1, 2: failed: server: gone`,
      ...[3, 4, 5, 6].map((n) => `${what}, run ${n}: invalid: M9 ${n} failed answers`),
      "  and 2 more: see the report and benchmark.log",
      "measure the failed runs again with --resume",
    ]);
  });

  describe("after an interruption name what is kept:", () => {
    const runs = [tell.campaign(), tell.finished(1)];
    const aborted = tell.finished(2, { status: "aborted", figures: undefined });
    const ended = (folder = "/results/20260101_120000") =>
      tell.ended({ exit_code: 130, folder, runs: { valid: 1, aborted: 1, not_begun: 7 } });

    test("a partial report", () => {
      expect(problemLines(storyOf([...runs, aborted, tell.report(), ended()]))).toEqual([
        "the report is partial: 1 of 9 runs is measured and kept in /results/20260101_120000",
      ]);
    });

    test("without a report, the command that builds it, quoted for a shell and on one line", () => {
      const lines = problemLines(storyOf([...runs, aborted, ended("/my results/20260101_120000")]), 40);
      expect(lines.slice(0, 2).join(" ")).toContain("1 of 9 runs is measured and kept in");
      expect(lines.slice(-2)).toEqual([
        "build the report of the measured runs with",
        "  ./scripts/generate_report.py '/my results/20260101_120000'",
      ]);
    });

    test("no report if no run was measured", () => {
      const events = [tell.campaign(), tell.finished(1, { status: "aborted", figures: undefined })];
      const end = tell.ended({ exit_code: 130, runs: { aborted: 1, not_begun: 8 } });
      expect(problemLines(storyOf([...events, end]))).toEqual(["no run was measured: there is no report"]);
    });
  });

  test("are empty if everything went well or nothing started", () => {
    expect(problemLines(storyOf([tell.campaign(), tell.finished(1), tell.report(), tell.ended()]))).toEqual(
      [],
    );
    expect(problemLines(storyOf([tell.ended({ exit_code: 3, folder: undefined })]))).toEqual([]);
  });
});
