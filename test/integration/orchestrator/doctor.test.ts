import { expect, test } from "vitest";
import { runProgram } from "../../helpers/programs.js";

test("doctor --seconds 0 makes the checks alone", async () => {
  const parameters = "doctor --json --runtime local --seconds 0".split(" ");
  const { code, stdout } = await runProgram("orchestrator/cli.js", parameters, {}).ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).not.toHaveProperty("resolution");
});
