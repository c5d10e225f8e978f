import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { limitersPage } from "../../../scripts/limiters-page.js";
import { ROOT } from "../../helpers/programs.js";
import { factTargets, type LimiterFacts } from "../../suites/limiter-facts.js";

const file = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const facts = JSON.parse(file("test/fixtures/limiter-facts.json")) as LimiterFacts[];

test("docs/limiters.md is made from the facts", () => {
  expect(file("docs/limiters.md")).toBe(limitersPage(facts));
});

test("every fact is one of a limiter that there is, and says when and on what it was found", () => {
  const texts = factTargets().map(({ text }) => text);
  expect(facts.filter(({ target }) => !texts.includes(target))).toEqual([]);
  for (const { tried } of facts) expect(tried.date).toMatch(/^\d{4}-\d\d-\d\d$/);
});
