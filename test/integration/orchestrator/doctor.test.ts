import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { runProgram } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

const doctor = async (...flags: string[]) => {
  const home = newFolder();
  const ended = await runProgram(
    "orchestrator/cli.js",
    ["doctor", "--json", "--runtime", "local", ...flags],
    {
      HOME: home,
      TMPDIR: home,
    },
  ).ended;
  return { ...ended, left: readdirSync(home).filter((name) => name.startsWith("ratelimit-bench")) };
};

test("doctor measures a target and its copy by turns, and says what the machine can show", async () => {
  const { code, stdout, stderr, left } = await doctor("--seconds", "1");
  expect(code, stderr).toBe(0);
  expect(left).toEqual([]);
  const { fit, checks, resolution } = JSON.parse(stdout);
  expect(fit).toBe(true);
  expect(checks.map(({ check }: { check: string }) => check)).toContain("cores");
  expect(resolution).toMatchObject({ rounds: 8, slices_s: 1 });
  const { low, high } = resolution.interval;
  expect(low).toBeLessThanOrEqual(resolution.ratio);
  expect(high).toBeGreaterThanOrEqual(resolution.ratio);
  expect(resolution.deviation_percent).toBeGreaterThan(0);
  expect(resolution.differences.map(({ percent }: { percent: number }) => percent)).toEqual([3, 5, 10]);
}, 400_000);

test("doctor --seconds 0 makes the checks alone", async () => {
  const { code, stdout } = await doctor("--seconds", "0");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).not.toHaveProperty("resolution");
});
