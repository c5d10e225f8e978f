import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SETTINGS } from "../../../src/orchestrator/request/settings.js";
import { SINGLE_VARIABLES } from "../../../src/orchestrator/request/single-run.js";
import { ROOT } from "../../helpers/programs.js";

const page = (name: string) => readFileSync(join(ROOT, "docs", name), "utf8");
const missing = (words: readonly string[], text: string) =>
  words.filter((word) => !new RegExp(`\`${word}[\` ]`).test(text));

test("docs/flags.md names every flag and its variable", () => {
  const words = SETTINGS.flatMap(({ key, variable }) => [`--${key}`, ...(variable ? [variable] : [])]);
  expect(missing(words, page("flags.md"))).toEqual([]);
});

test("docs/environment-variables.md names every variable of a single configuration that no flag has", () => {
  const ofFlags = SETTINGS.map(({ variable }) => variable);
  const words = Object.keys(SINGLE_VARIABLES).filter((name) => !ofFlags.includes(name));
  expect(missing(words, page("environment-variables.md"))).toEqual([]);
});
