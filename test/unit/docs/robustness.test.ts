import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

const page = readFileSync(join(ROOT, "docs/robustness.md"), "utf8");

/** Rows of both tables: what goes wrong, and the ids of the tests that show what happens then. */
const rows = page
  .split("\n")
  .filter((line) => line.startsWith("| ") && !/^\| (fault|input|-+) *\|/.test(line))
  .map((line) => {
    const [, what = "", , shown = ""] = line.split(/(?<!\\)\|/);
    return { what: what.trim(), ids: [...shown.matchAll(/`(R-[a-z-]+-\d+)`/g)].map(([, id = ""]) => id) };
  });

/** Ids in the titles of tests, or above them, each as often as it is there. */
const known = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.test\.ts$|(^|\/)test_\w+\.py$/.test(file))
  .flatMap((file) => [...readFileSync(join(ROOT, "test", file), "utf8").matchAll(/\[(R-[a-z-]+-\d+)\]/g)])
  .map(([, id = ""]) => id);

test("every row of the page names its tests", () => {
  expect(rows.length).toBeGreaterThanOrEqual(33);
  expect(rows.filter(({ ids }) => ids.length === 0)).toEqual([]);
});

test("every id on the page is that of one test, and every test with an id is on the page", () => {
  const named = new Set(rows.flatMap(({ ids }) => ids));
  expect(known.toSorted()).toEqual([...named].toSorted());
});
