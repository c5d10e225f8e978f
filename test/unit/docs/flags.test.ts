import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("every flag of docs/flags.md stands in a test", () => {
  const flags = [...read("docs/flags.md").matchAll(/^- `(--[\w-]+)/gm)].map(
    ([, flag = ""]) => flag,
  );
  const tests = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(ts|py)$/.test(file))
    .map((file) => read(join("test", file)));
  const words = new Set(tests.join("\n").match(/--[a-z][\w-]+/g));
  expect(flags.length).toBeGreaterThan(80);
  expect(flags.filter((flag) => !words.has(flag))).toEqual([]);
});
