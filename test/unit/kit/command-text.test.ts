import { join } from "node:path";
import { expect, test } from "vitest";
import { installedForm, runnableIn } from "../../../src/kit/command-text.js";
import { ROOT } from "../../helpers/programs.js";

test.each([
  [".", "./scripts/run-all.sh --quick", "./scripts/run-all.sh --quick"],
  ["docs", "A=1 ./scripts/run-all.sh --resume", "A=1 ../scripts/run-all.sh --resume"],
  ["docs", "ratelimit-bench audit", "node ../dist/orchestrator/cli.js audit"],
  [".", "ratelimit-bench audit", "node ./dist/orchestrator/cli.js audit"],
])("in %s, `%s` is printed as `%s`", (folder, command, printed) => {
  expect(runnableIn(command, join(ROOT, folder))).toBe(printed);
});

test("far from the checkout a command names its whole path", () => {
  const words = runnableIn("./scripts/generate_report.py 'a b'", "/no/such/folder/anywhere/here");
  expect(words).toBe(`${join(ROOT, "scripts/generate_report.py")} 'a b'`);
});

test("a written command of a checkout has a form for the installed package", () => {
  const command = "PLUGINS=x ./scripts/run-all.sh --clients none";
  expect(installedForm(command)).toBe("PLUGINS=x ratelimit-bench run --clients none");
  expect(installedForm("ratelimit-bench run --quick")).toBe("ratelimit-bench run --quick");
});
