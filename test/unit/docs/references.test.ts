import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AUTO_WARMUP, LEAD_IN_S } from "../../../src/contract/configuration.js";
import { FOREIGN_CPU_PERCENT } from "../../../src/contract/result.js";
import {
  FLOOR_SHARE,
  MIN_PAIRS,
  MIN_ROUNDS_TO_PAIR,
  MIN_RUNS,
  MIN_TRIALS_PER_RATE,
} from "../../../src/contract/statistics.js";
import { MIN_CYCLES } from "../../../src/contract/turns.js";
import { MIN_ROUNDS_FOR_A_COPY } from "../../../src/orchestrator/plan/rankings.js";
import { lengthsFor, SEPARATE_SLICE_MS } from "../../../src/traffic/turn-order.js";
import { ROOT } from "../../helpers/programs.js";

const FOLDERS = ["src", "report", "test", "scripts", "bench", "docs", "docker", "claims"];

/** Folders of src/ and report/ whose files comments name without that prefix. */
const INNER_FOLDERS = [
  "orchestrator",
  "runtimes",
  "targets",
  "benchmark",
  "contract",
  "judge",
  "sections",
  "analysis",
];

const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(ROOT, path)));

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The text of a page on one line, so that a sentence is found whatever its line breaks. */
const flowing = (path: string): string => read(path).replaceAll(/\s+/g, " ");

/** Paths of source files in a text, without placeholders such as `NAME`. */
function pathsIn(text: string, folders: readonly string[]): string[] {
  const path = new RegExp(`(?<![\\w/.~-])(?:${folders.join("|")})/[\\w./-]*\\.(?:ts|py|mjs|sh|md)\\b`, "g");
  return (text.match(path) ?? []).filter((found) => !/[A-Z]{4}/.test(found));
}

const commentsIn = (source: string): string =>
  (source.match(/\/\*[\s\S]*?\*\/|\/\/.*|^\s*#.*$/gm) ?? []).join("\n");

const isThere = (path: string): boolean =>
  ["", "src", "report"].some((folder) => existsSync(join(ROOT, folder, path)));

/** Names the document beside each path that leads nowhere. */
function deadPaths(file: string, text: string, folders: readonly string[]): string[] {
  return pathsIn(text, folders)
    .filter((path) => !isThere(path))
    .map((path) => `${file}: ${path}`);
}

test("every source file that a document names is there", () => {
  const documents = listed.filter((path) => /^(docs\/.*|README|CONTRIBUTING)\.md$/.test(path));
  expect(documents.length).toBeGreaterThan(30);
  expect(documents.flatMap((path) => deadPaths(path, read(path), FOLDERS))).toEqual([]);
});

test("every source file that a comment names is there", () => {
  const sources = listed.filter((path) => /^(src|report|bench|scripts|test)\/.*\.(ts|py|sh|mjs)$/.test(path));
  const folders = [...FOLDERS, ...INNER_FOLDERS];
  expect(sources.length).toBeGreaterThan(500);
  expect(sources.flatMap((path) => deadPaths(path, commentsIn(read(path)), folders))).toEqual([]);
});

const WORDS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

test("numbers of the methodology are those of the code", () => {
  const page = flowing("docs/methodology.md");
  const { lead_in_ms, slice_ms } = lengthsFor(0);

  expect(page).toContain(`The last ${LEAD_IN_S} s of the warm-up (of a shorter one than ${2 * LEAD_IN_S} s`);
  expect(page).toContain(
    `takes ${AUTO_WARMUP.min_s} to ${AUTO_WARMUP.max_s} s, by turns ${AUTO_WARMUP.min_by_turns_s} to ` +
      `${AUTO_WARMUP.max_s} s: until ${AUTO_WARMUP.min_requests} requests`,
  );
  expect(page).toContain(`counted (${lead_in_ms} ms or more`);
  expect(page).toContain(`at least ${WORDS[MIN_CYCLES]} cycles`);
  expect(page).toContain(`a slice of ${slice_ms} ms, at the limiter layer ${SEPARATE_SLICE_MS} ms`);
  expect(page).toContain(`From ${MIN_ROUNDS_FOR_A_COPY} rounds on a copy of each reference`);
  expect(flowing("docs/reading.md")).toContain(`from ${MIN_ROUNDS_FOR_A_COPY} rounds on the reference`);
});

test("numbers of the statistics are those of the code, on every page", () => {
  const methodology = flowing("docs/methodology.md");
  const floor = `± ${100 * FLOOR_SHARE} %`;

  expect(methodology).toContain(`(Wilcoxon), from ${WORDS[MIN_PAIRS]} rounds on`);
  expect(methodology).toContain(`A difference counts only beyond ${floor}`);
  expect(methodology).toContain(`≥ ${FOREIGN_CPU_PERCENT} % of one CPU`);
  expect(methodology).toContain(`get ${WORDS[MIN_TRIALS_PER_RATE]} trials each`);
  expect(flowing("docs/comparing.md")).toContain(`otherwise from ${WORDS[MIN_ROUNDS_TO_PAIR]} rounds on`);
  expect(flowing("docs/comparing.md")).toContain(`of at least ${WORDS[MIN_PAIRS]} rounds each`);
  expect(flowing("docs/reading.md")).toContain(`the interval lies within ${floor}`);
  expect(flowing("README.md")).toContain(`With fewer than ${WORDS[MIN_PAIRS]} rounds by turns`);
  expect(flowing("src/orchestrator/commands/compare.ts")).toContain(
    `at least ${WORDS[MIN_PAIRS]} rounds are needed; otherwise ${WORDS[MIN_RUNS]} runs`,
  );
});
