import { describe, expect, test } from "vitest";
import { type CampaignEvent, eventSchema } from "../../../../src/contract/events.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { LiveScreen } from "../../../../src/orchestrator/ui/live-screen.js";
import type { Detail } from "../../../../src/orchestrator/ui/screen-types.js";
import {
  JsonScreen,
  type LineDetail,
  LineScreen,
  openScreen,
  QuietScreen,
} from "../../../../src/orchestrator/ui/screens.js";
import { ensureSize } from "../../../../src/orchestrator/ui/tty.js";
import { expectFailure } from "../../../helpers/errors.js";
import { CapturedOutput, EventFixture, planOf, render } from "../../../helpers/events.js";

/** A terminal that can be resized. */
class Resized extends CapturedOutput {
  readonly #listeners: (() => void)[] = [];

  constructor() {
    super(true);
  }

  on(_event: "resize", listener: () => void): void {
    this.#listeners.push(listener);
  }

  resized(): void {
    for (const listener of this.#listeners) listener();
  }
}

const tell = new EventFixture();
const ESC = "\x1b";
const HOSTILE = "a\x1b]0;owned\x07\nforged line\u009b31m\u2028b";
/** Any control character but the end of a line, and a line separator. */
const CONTROLS = /[^\P{Cc}\n]|\u2028/u;
const state: CampaignEvent[] = [
  tell.opened(),
  tell.notice("runtime: local (as asked)"),
  tell.notice("a warning", "warning"),
  tell.campaign(),
  tell.started(1),
  tell.phase("warmup", 1, 5),
  tell.phase("measure", 6, 10),
  tell.second(7),
  tell.detail("a line of the server", "server"),
  tell.finished(1),
  tell.started(2, 20),
  tell.failed(2, "server: ended with SIGKILL"),
  tell.report(),
  tell.ended({ exit_code: 4, runs: { valid: 1, failed: 1 } }),
];
const lines = (detail: LineDetail, events = state) =>
  render((outputs) => new LineScreen(outputs, detail), events);
const json = (detail: Detail, events = state) =>
  render((outputs) => new JsonScreen(outputs, detail), events);

test("one line per run has number, figures, verdict and time left, and nothing else about it", () => {
  const { out } = lines("run");
  const [first, second, ...others] = out.lines.filter((line) => line.includes("/2]"));
  expect(others).toEqual([]);
  for (const part of [
    "[1/2] iovalkey, ",
    "run 1",
    "5000 requests/s",
    "p99 12.25 ms",
    "valid",
    "88 s left",
  ])
    expect(first).toContain(part);
  for (const part of ["[2/2] iovalkey, ", "run 2", "failed", "SIGKILL"])
    expect(second).toContain(part);
  expect(out.text).not.toMatch(/warm-up|5012|a line of the server/);
});

test("what a whole round met is said once, and each run has the rule", () => {
  const text = "other programs used 153 % of one CPU in the window";
  const suspect = {
    status: "suspect",
    reasons: [{ rule: "M25", severity: "suspect", text }],
  } as const;
  const round = [
    tell.opened(),
    tell.campaign(),
    tell.round("round_started"),
    tell.started(1),
    tell.started(2),
    tell.finished(1, { ...suspect, reasons: [...suspect.reasons], round: 1 }),
    tell.finished(2, { ...suspect, reasons: [...suspect.reasons], round: 1 }),
    tell.round("round_finished", 20),
  ];
  const { out } = lines("phase", round);
  const finished = out.lines.filter((line) => line.includes("5000 requests/s"));
  expect(finished.map((line) => line.includes(text))).toEqual([true, false]);
  expect(finished.every((line) => line.includes("M25"))).toBe(true);
});

describe("one line per phase", () => {
  test("each phase is one line with the time of day, without escape sequences", () => {
    const { out, err } = lines("phase");
    expect(
      out.lines.filter((line) => /^\d\d:\d\d:\d\d {3}(warm-up|measure)$/.test(line)),
    ).toHaveLength(2);
    expect(out.text).not.toMatch(/5012|a line of the server/);
    expect(out.text + err.text).not.toMatch(CONTROLS);
  });

  test("--verbose adds the figures of each second and the programs' lines", () => {
    const { out } = lines("verbose");
    for (const part of ["7 s: 5012", "server: a line of the server"])
      expect(out.text).toContain(part);
  });

  test("what the target did stands beside the verdict", () => {
    const failed = tell.finished(1, { outcome: "failed", outcome_text: "2 % failed" });
    for (const detail of ["run", "phase"] as const)
      expect(lines(detail, [tell.campaign(), tell.started(1), failed]).out.text).toContain(
        "valid · failed",
      );
  });

  test("warnings and problems go to standard error, figures and paths to standard output", () => {
    const { out, err } = lines("phase");
    expect(err.lines[0]).toBe("a warning");
    expect(err.text).toContain("SIGKILL");
    expect(err.lines.at(-2)).toContain("--resume");
    expect(err.lines.at(-1)).toContain("exit code 4");
    expect(out.text).toContain("report: /results/20260101_120000/report/index.html\n");
    expect(out.text).toContain("log: /results/20260101_120000/benchmark.log\n");
  });
});

describe("--json", () => {
  test("writes every event as one line of the contract, and warnings also on standard error", () => {
    const { out, err } = json("normal");
    const events = out.lines.map((line) => eventSchema.parse(JSON.parse(line)));
    expect(events).toEqual(state.filter(({ event }) => event !== "detail"));
    expect(err.lines[0]).toBe("a warning");
  });

  test("escapes hostile text for terminals; a parser restores it", () => {
    const { out, err } = json("normal", [tell.notice(HOSTILE, "warning")]);
    expect(JSON.parse(out.lines[0] ?? "").text).toBe(HOSTILE);
    expect(out.lines).toHaveLength(1);
    for (const { text } of [out, err]) expect(text).not.toMatch(CONTROLS);
    expect(err.lines).toHaveLength(1);
  });
});

test("--quiet writes only the path of the report, and set-up and problems on standard error", () => {
  const events = [tell.notice("building the image x", "setup"), ...state];
  const { out, err } = render((outputs) => new QuietScreen(outputs, "quiet"), events);
  expect(out.text).toBe("/results/20260101_120000/report/index.html\n");
  expect(err.lines.slice(0, 2)).toEqual(["building the image x", "a warning"]);
  expect(err.text).toContain("SIGKILL");
});

describe("a name with control characters", () => {
  const plan = planOf();
  for (const { configuration } of plan.configurations) configuration.target.label = HOSTILE;
  const hostile = new EventFixture(plan);
  const events = [
    hostile.campaign({ folder: `/r/${HOSTILE}` }),
    hostile.notice(HOSTILE),
    hostile.notice(HOSTILE, "warning"),
    hostile.detail(HOSTILE, "server"),
    hostile.started(1),
    hostile.failed(1, HOSTILE),
    hostile.kept(2),
    hostile.report(),
    hostile.ended({ folder: `/r/${HOSTILE}`, exit_code: 130, runs: { failed: 1 } }),
  ];

  test("is escaped in lines", () => {
    const { out, err } = lines("verbose", events);
    expect(out.text + err.text).not.toMatch(CONTROLS);
    expect(out.text).toContain("a\\x1b]0;owned\\x07\\x0aforged line\\x9b31m\\u2028b");
  });

  test("is escaped on a live screen", () => {
    const terminal = new CapturedOutput(true);
    const { out, err } = render((outputs) => new LiveScreen(outputs, "verbose"), events, terminal);
    // What the screen itself writes: cursor and erase sequences, and returns to the first column.
    const own = (out.text + err.text)
      .replaceAll(new RegExp(`${ESC}([78]|\\[(\\?25[lh]|\\d*[AJK]))`, "g"), "")
      .replaceAll("\r", "");
    expect(own).not.toMatch(CONTROLS);
    expect(own).toContain("\\x1b]0;owned");
  });
});

describe("the chosen screen", () => {
  const opened = (env: Record<string, string>, out = new CapturedOutput(true), telling = {}) => {
    const request = { format: "text" as const, detail: "normal" as const, ...telling };
    const screen = openScreen(request, { out, err: new CapturedOutput() }, env);
    screen.close();
    return screen;
  };
  const taken = (...given: Parameters<typeof opened>) => opened(...given).constructor;
  test.each([
    ["a terminal", {}, true, LiveScreen],
    ["no terminal", {}, false, LineScreen],
    ["a dumb terminal", { TERM: "dumb" }, true, LineScreen],
    ["a CI job", { CI: "true" }, true, LineScreen],
    ["CI=false", { CI: "false" }, true, LiveScreen],
    ["NO_COLOR", { NO_COLOR: "1" }, true, LiveScreen],
  ])("on %s", (_where, env, isTerminal, expected) => {
    expect(taken(env, new CapturedOutput(isTerminal))).toBe(expected);
  });

  test("is the one that the flags name", () => {
    expect(taken({}, new CapturedOutput(true), { format: "json" })).toBe(JsonScreen);
    expect(taken({}, new CapturedOutput(true), { detail: "quiet" })).toBe(QuietScreen);
    expect(taken({}, new CapturedOutput(true), { format: "json", detail: "quiet" })).toBe(
      JsonScreen,
    );
    expect(taken({}, new CapturedOutput(true), { progress: "run" })).toBe(LineScreen);
    expect(taken({ CI: "true" }, new CapturedOutput(true), { progress: "live" })).toBe(LiveScreen);
  });

  test("is refused if the terminal cannot redraw in place", async () => {
    const live = { progress: "live" };
    const refused = [EXIT.usage, "--progress live needs a terminal", "run or phase"] as const;
    await expectFailure(() => taken({}, new CapturedOutput(false), live), ...refused);
    await expectFailure(() => taken({ TERM: "dumb" }, new CapturedOutput(true), live), ...refused);
  });
});

describe("on a terminal", () => {
  test("0 columns count as 80, also after a resize", () => {
    const out = new Resized();
    out.columns = 0;
    out.rows = 0;
    ensureSize(out);
    expect([out.columns, out.rows]).toEqual([80, 24]);
    const { text } = render((outputs) => new LiveScreen(outputs, "normal"), state, out).out;
    expect(text).toContain("5000 requests/s");
    out.columns = 0;
    out.resized();
    expect(out.columns).toBe(80);
    out.columns = 100;
    out.resized();
    expect(out.columns).toBe(100);
  });

  const onTerminal = (events: readonly CampaignEvent[], colors: boolean) =>
    render((outputs) => new LiveScreen(outputs, "normal"), events, new CapturedOutput(true, colors))
      .out.text;
  const COLOUR = new RegExp(`${ESC}\\[[\\d;]*m`);

  test("colours are written only if the terminal wants them", () => {
    expect(onTerminal(state, true)).toMatch(COLOUR);
    expect(onTerminal(state, false)).not.toMatch(COLOUR);
  });

  test("a run that the target spoiled is not green, whatever its verdict", () => {
    const colour = (change: Parameters<typeof tell.finished>[1]) =>
      new RegExp(`${ESC}\\[(\\d+)m {2}5000 requests`).exec(
        onTerminal([tell.campaign(), tell.started(1), tell.finished(1, change)], true),
      )?.[1];
    expect(colour({ outcome: "served" })).toBe("32");
    expect(colour({ outcome: "failed", outcome_text: "why" })).toBe("31");
    expect(colour({ status: "suspect" })).toBe("33");
    expect(colour({ status: "invalid" })).toBe("31");
  });

  test("the cursor is hidden while drawing, and restored however the campaign ends", () => {
    for (const events of [state, state.slice(0, 7)]) {
      const text = onTerminal(events, false);
      expect(text.lastIndexOf("\x1b[?25h")).toBeGreaterThan(text.lastIndexOf("\x1b[?25l"));
      expect(text).toContain("\x1b[?25l");
    }
  });

  test("many events at once cause few redraws", () => {
    const seconds = Array.from({ length: 500 }, () => tell.second(7));
    const redraws =
      onTerminal([...state.slice(0, 7), ...seconds], false).split("5012 requests").length - 1;
    expect(redraws).toBeLessThan(20);
  });
});
