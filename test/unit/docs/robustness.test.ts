import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

const page = readFileSync(join(ROOT, "docs/robustness.md"), "utf8");

/** Rows of both tables: what goes wrong, and the tests that show what happens then. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (fault|input|-+) *\|/.test(line))
  .map((line) => {
    const [, what = "", , shown = ""] = line.split(/(?<!\\)\|/);
    const files = [...shown.matchAll(/`(test\/[^`]+)`: ((?:“[^”]+”(?:, )?)+)/g)];
    const tests = files.flatMap(([, file = "", names = ""]) =>
      [...names.matchAll(/“([^”]+)”/g)].map(([, name = ""]) => ({ file, name })),
    );
    return { what: what.trim(), tests };
  });

/** As it stands in the source: a title in quotes, or a Python function. */
function isThere({ file, name }: { file: string; name: string }): boolean {
  const path = join(ROOT, file);
  if (!existsSync(path)) return false;
  const source = readFileSync(path, "utf8");
  return file.endsWith(".py") ? source.includes(`def ${name}(`) : source.includes(JSON.stringify(name));
}

test("every row of the page names its tests", () => {
  expect(rows.length).toBeGreaterThanOrEqual(33);
  expect(rows.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

describe("the tests of", () => {
  test.each(rows)("$what: all of them exist", ({ tests }) => {
    expect(tests.filter((each) => !isThere(each))).toEqual([]);
  });
});
