import { expect, test } from "vitest";
import { bar, flow, truncate, wrap } from "../../../../src/orchestrator/ui/text.js";

test("pieces fill as many lines as they need", () => {
  expect(flow(["aaaa", "bbbb", "cccc"], 10)).toEqual(["aaaa  bbbb", "cccc"]);
  expect(flow(["a long piece", "b"], 6)).toEqual(["a lon…", "b"]);
  expect(flow([], 10)).toEqual([]);
});

test("a text breaks between words and keeps its margin; a path stays whole", () => {
  expect(wrap("  one two three", 9)).toEqual(["  one two", "    three"]);
  expect(wrap("log: /a/very/long/path", 8, "")).toEqual(["log:", "/a/very/long/path"]);
});

test("truncation is marked, and wide characters count twice", () => {
  expect(truncate("abcdef", 4)).toBe("abc…");
  expect(truncate("漢字漢字", 5)).toBe("漢字…");
  expect(truncate("abc", 3)).toBe("abc");
});

test("a bar has the given width, whatever the share", () => {
  expect(bar(0.5, 12)).toBe("[#####-----]");
  expect(bar(7, 6)).toBe("[####]");
  expect(bar(-1, 6)).toBe("[----]");
});
