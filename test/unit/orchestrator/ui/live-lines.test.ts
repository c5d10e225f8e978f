import { describe, expect, test } from "vitest";
import type { CampaignEvent } from "../../../../src/contract/events.js";
import { CampaignState } from "../../../../src/orchestrator/ui/campaign-state.js";
import { liveLines, type Size } from "../../../../src/orchestrator/ui/live-lines.js";
import { Frame } from "../../../../src/orchestrator/ui/live-screen.js";
import { widthOf } from "../../../../src/orchestrator/ui/text.js";
import { CapturedOutput, EventFixture, planOf, STARTED_MS } from "../../../helpers/events.js";

const tell = new EventFixture();

function linesAt(second: number, events: readonly CampaignEvent[], size: Partial<Size> = {}): string[] {
  const state = new CampaignState();
  for (const event of events) state.add(event);
  const full = { columns: 80, rows: 24, ...size };
  return liveLines(state, STARTED_MS + 1000 * second, full).map(({ text }) => text);
}

const measuring = [tell.campaign(), tell.started(1), tell.phase("measure", 10, 10), tell.second(20)];

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
    const events = [tell.campaign(), tell.round("round_started"), ...runs, tell.phase("measure", 10, 10)];
    const at = (second: number, ...more: CampaignEvent[]) => linesAt(second, [...events, ...more]).join("\n");
    const labels = runs.map(({ configuration }) => configuration.target.label);
    for (const label of labels) expect(at(10)).toContain(label);
    expect(at(20, tell.second(20))).toContain(`${labels[0]}: 5012 requests/s`);
    expect(at(20, tell.finished(1), tell.finished(2), tell.round("round_finished", 20))).not.toContain(
      labels[0],
    );
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
    const next = [...measuring, tell.finished(1), tell.started(2, 20), tell.phase("measure", 20, 10)];
    expect(linesAt(20, next).join()).not.toContain("5012");
  });

  test.each([
    [80, 24],
    [40, 24],
    [20, 24],
    [5, 4],
    [1, 1],
    [200, 60],
  ])("fits into %i columns and %i rows, also with a huge label of wide characters", (columns, rows) => {
    const plan = planOf();
    const [planned] = plan.configurations;
    if (!planned) throw new Error("a configuration");
    planned.configuration.target.label = `${"漢字".repeat(50)}${"x".repeat(100)}`;
    const huge = new EventFixture(plan);
    const events = [huge.campaign(), huge.started(1), huge.phase("measure", 10, 10), huge.second(20)];
    const lines = linesAt(20, events, { columns, rows });
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, rows - 1));
    for (const line of lines) expect(widthOf(line)).toBeLessThan(Math.max(2, columns));
  });

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
