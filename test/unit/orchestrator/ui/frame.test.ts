import { describe, expect, test } from "vitest";
import { Frame } from "../../../../src/orchestrator/ui/frame.js";
import { bar, flow, truncate, wrap } from "../../../../src/orchestrator/ui/text.js";
import { CapturedOutput } from "../../../helpers/events.js";

describe("the frame", () => {
  test("is gone without a trace when nothing was drawn", () => {
    const out = new CapturedOutput(true);
    const frame = new Frame(out);
    frame.print(["a line"]);
    out.text = "";
    frame.remove();
    expect(out.text).toBe("");
  });

  test("can be removed and drawn again, as for Ctrl-Z", () => {
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

  test("rests where it begins, so that a resize cannot lose it", () => {
    const out = new CapturedOutput(true);
    new Frame(out).draw(["one", "two", "three"]);
    expect(out.text.endsWith("\x1b[2A\r")).toBe(true);
  });
});

test("pieces flow onto as many lines as they need", () => {
  expect(flow(["aaaa", "bbbb", "cccc"], 10)).toEqual(["aaaa  bbbb", "cccc"]);
  expect(flow(["a long piece", "b"], 6)).toEqual(["a lon…", "b"]);
  expect(flow([], 10)).toEqual([]);
});

test("a text breaks between words and keeps its margin; a path stays whole", () => {
  expect(wrap("  one two three", 9)).toEqual(["  one two", "    three"]);
  expect(wrap("log: /a/very/long/path", 8, "")).toEqual(["log:", "/a/very/long/path"]);
});

test("what is cut says so, wide characters count twice", () => {
  expect(truncate("abcdef", 4)).toBe("abc…");
  expect(truncate("漢字漢字", 5)).toBe("漢字…");
  expect(truncate("abc", 3)).toBe("abc");
});

test("a bar is never longer than asked, whatever the share", () => {
  expect(bar(0.5, 12)).toBe("[#####-----]");
  expect(bar(7, 6)).toBe("[####]");
  expect(bar(-1, 6)).toBe("[----]");
});
