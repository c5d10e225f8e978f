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

  test("count the runs that a search expects", () => {
    const tell = new EventFixture();
    const state = storyOf([tell.campaign({ runs: 30 })]);
    expect(state.total).toBe(30);
    state.add({ event: "planned", at: tell.campaign().at, runs: 33, time_left_s: 10 });
    expect(state.total).toBe(33);
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

  test("keep what decides and its algorithm apart, as the report does", () => {
    const tell = new EventFixture(planOf("--clients", "ioredis,ioredis+redis-gcra,ioredis+redis-cell,none"));
    const controls = tell.plan.configurations.map(({ configuration: { target } }) => ({
      control: target.label === "none",
      store: target.store,
      topology: target.topology,
      label: target.label,
    }));
    const lines = finalLines(storyOf([tell.campaign(), tell.report(controls), tell.ended()]), WIDE);
    const rest = "light · realistic · 8 connections · 10 s";
    expect(lines.filter((line) => line.includes(" · ")).sort()).toEqual([
      `controls · ${rest}`,
      `standalone · redis · library (GCRA) · ${rest}`,
      `standalone · redis · library (fixed window) · ${rest}`,
      `standalone · redis · module (GCRA) · ${rest}`,
    ]);
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

  test("say in how many runs the target failed its load, also where it served none", () => {
    const tell = new EventFixture();
    const text = (change: object) =>
      finalLines(storyOf([tell.campaign(), tell.report([change]), tell.ended()]), WIDE).join("\n");
    expect(text({ served_runs: 7, spoiled_runs: 3 })).toMatch(/5000\/s .* {2}failed its load in 3 of 10$/m);
    expect(text({})).not.toContain("failed its load");
    const none = { requests_per_second: null, latency_p50_ms: null, latency_p99_ms: null, verdict: null };
    expect(text({ ...none, served_runs: 0, spoiled_runs: 2 })).toMatch(
      /iovalkey {2}no figures {2}.* {2}failed its load in 2 of 2$/m,
    );
  });

  test("print the lower bound of a percentile that failures could move", () => {
    const tell = new EventFixture();
    const text = (change: object) =>
      finalLines(storyOf([tell.campaign(), tell.report([change]), tell.ended()]), WIDE).join("\n");
    const unknown = { latency_p99_ms: null, latency_p99_at_least_ms: 30.1 };
    expect(text(unknown)).toContain("p50 1.50 ms  p99 > 30.10 ms  2 of 2");
    expect(text({ latency_p99_ms: null })).not.toContain("p99");
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

  test("tell what the target did in the runs that it spoiled", () => {
    const served = { status: "valid" as const, outcome: "served" as const };
    const failed = { outcome: "failed" as const, outcome_text: "2.00 % of 500 requests failed" };
    const reasons = [
      { rule: "M5", severity: "invalid" as const, text: "schedule not kept: saturated: slow" },
    ];
    const overloaded = { outcome: "overloaded" as const, outcome_text: "slow" };
    const events = [
      tell.campaign(),
      ...[1, 2, 3, 4].map((number) => tell.started(number)),
      tell.finished(1, served),
      tell.finished(2, failed),
      tell.finished(3, failed),
      tell.finished(4, { ...overloaded, status: "invalid", reasons }),
      tell.report(),
      tell.ended({ exit_code: 5, runs: { valid: 3, invalid: 1 } }),
    ];
    const what = "  iovalkey, light, realistic, 8 connections";
    expect(problemLines(storyOf(events))).toEqual([
      "1 of 4 runs is invalid",
      "the target failed its load in 3 of 4 runs",
      `${what}, runs 2, 3: failed: 2.00 % of 500 requests failed`,
      `${what}, run 4: invalid: M5 schedule not kept: saturated: slow`,
    ]);
  });

  test("count no run of the burn-in round, but say that some failed", () => {
    const burnt = new EventFixture(planOf("--runs", "5"));
    const events = [
      burnt.campaign(),
      ...[1, 2, 3].map((number) => burnt.started(number)),
      burnt.failed(1, "server: gone"),
      burnt.failed(2, "server: gone"),
      burnt.finished(3),
      burnt.report(),
      burnt.ended({ exit_code: 4, runs: { valid: 1, failed: 2 } }),
    ];
    expect(problemLines(storyOf(events))).toEqual([
      "1 of 2 runs failed",
      "  iovalkey, light, realistic, 8 connections, run 1: failed: server: gone",
      "1 of 1 run of the burn-in failed: that round does not count",
      "measure the failed runs again with --resume",
    ]);
    const early = [
      burnt.campaign(),
      burnt.finished(1),
      burnt.ended({ exit_code: 130, runs: { not_begun: 5 } }),
    ];
    expect(problemLines(storyOf(early))).toEqual(["no run was measured: there is no report"]);
  });

  test("count suspect runs and name the rules", () => {
    const reasons = [{ rule: "M6", severity: "suspect" as const, text: "generator saturated" }];
    const events = [tell.campaign(), tell.finished(1, { status: "suspect", reasons }), tell.finished(2)];
    const lines = problemLines(
      storyOf([...events, tell.report(), tell.ended({ runs: { valid: 1, suspect: 1 } })]),
    );
    expect(lines).toEqual(["1 of 2 runs is suspect (M6): the report says why"]);
  });

  test("count runs that an earlier session measured", () => {
    const kept = [tell.kept(1, "invalid"), tell.kept(2), tell.kept(4, "valid", { outcome: "failed" })];
    const events = [tell.campaign(), ...kept, tell.finished(3), tell.report()];
    const ended = tell.ended({ exit_code: 5, runs: { valid: 1, kept: 3 } });
    expect(problemLines(storyOf([...events, ended]))).toEqual([
      "1 of 4 runs is invalid",
      "the target failed its load in 1 of 4 runs",
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
