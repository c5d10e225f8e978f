import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { ROOT } from "../../helpers/programs.js";

test("a program that waits for nothing is a defect, and no success", () => {
  const code =
    'import { runMain } from "./dist/kit/program.js"; runMain(() => new Promise(() => {}));';
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect(status).toBe(EXIT.defect);
  expect(stderr).toMatch(/^defect: [^\n]+\n$/);
});
