import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

const page = readFileSync(join(ROOT, "docs/robustness.md"), "utf8");

/** Items of both lists: what goes wrong, and the ids of the tests that show what happens then. */
const items = page
  .slice(0, page.indexOf("## What stays out of reach"))
  .split(/^- /m)
  .slice(1)
  .map((item) => ({
    what: /^\*\*(.*?)\*\*/s.exec(item)?.[1] ?? "",
    ids: [...item.matchAll(/`(R-[a-z-]+-\d+)`/g)].map(([, id = ""]) => id),
  }));

/** Ids in the titles of tests, or above them, each as often as it is there. */
const known = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => /\.test\.ts$|(^|\/)test_\w+\.py$/.test(file))
  .flatMap((file) => [
    ...readFileSync(join(ROOT, "test", file), "utf8").matchAll(/\[(R-[a-z-]+-\d+)\]/g),
  ])
  .map(([, id = ""]) => id);

test("every item of the page names its tests", () => {
  expect(items.length).toBeGreaterThanOrEqual(33);
  expect(items.filter(({ what, ids }) => what === "" || ids.length === 0)).toEqual([]);
});

test("every id on the page is that of one test, and every test with an id is on the page", () => {
  const named = new Set(items.flatMap(({ ids }) => ids));
  expect(known.toSorted()).toEqual([...named].toSorted());
});
