import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limitersPage } from "../../../scripts/limiters-page.js";
import { ROOT } from "../../helpers/programs.js";
import { type LimiterBehaviour, triedTargets } from "../../suites/limiter-facts.js";

const file = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const behaviours = JSON.parse(file("test/fixtures/limiter-facts.json")) as LimiterBehaviour[];

test("docs/limiters.md is made from the facts", () => {
  expect(file("docs/limiters.md")).toBe(limitersPage(behaviours));
});

test("every fact is one of a limiter that there is, and says when and on what it was found", () => {
  const texts = triedTargets().map(({ text }) => text);
  expect(behaviours.filter(({ target }) => !texts.includes(target))).toEqual([]);
  for (const { tried } of behaviours) expect(tried.date).toMatch(/^\d{4}-\d\d-\d\d$/);
});
