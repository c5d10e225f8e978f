import { execFileSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { temporaryFolders } from "../../helpers/folders.js";
import { build, ROOT, runProgram } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();

const PROBE = join(ROOT, "dist/machine/host-speed.js");

describe("the probe", () => {
  test("measures all CPUs at once, twice alike, and does not keep the process when nobody closes it", () => {
    const script = `
      const { HostSpeedProbe } = await import(${JSON.stringify(PROBE)});
      const probe = new HostSpeedProbe();
      console.log(JSON.stringify([await probe.measure(), await probe.measure()]));`;
    const [first, second] = JSON.parse(
      execFileSync(process.execPath, ["--input-type=module", "--eval", script], { encoding: "utf8" }),
    );
    expect(first.cpus).toBe(Math.min(64, availableParallelism()));
    expect(Object.keys(first)).toEqual(["integer_us", "chase_us", "ping_pong_us", "cpus"]);
    // The same work takes the same CPU time, give or take what this machine does.
    expect(second.integer_us / first.integer_us).toBeGreaterThan(0.3);
    expect(second.integer_us / first.integer_us).toBeLessThan(3);
  });
});

describe("doctor", () => {
  const doctor = (...flags: string[]) =>
    runProgram("orchestrator/cli.js", ["doctor", ...flags], { HOME: newFolder() }).ended;

  test("--json has the checks, the host, and what it is good for", async () => {
    const { code, stdout, stderr } = await doctor("--seconds", "1", "--json", "--runtime", "local");
    expect(code, stderr).toBe(0);
    const found = JSON.parse(stdout);
    expect(found).toMatchObject({
      schema: "ratelimit-bench/doctor",
      schema_version: 1,
      fit: true,
      host_speed: { seconds: 1, probe: { version: 1 }, cpus: Math.min(64, availableParallelism()) },
    });
    expect(found.checks.map(({ check }: { check: string }) => check)).toContain("cores");
    expect(found.host_speed.measurements).toBeGreaterThanOrEqual(2);
    // Where other tests run beside this one nothing is known.
    const { unknown, differences = [] } = found.good_for;
    if (!unknown) expect(differences.map(({ percent }: { percent: number }) => percent)).toEqual([3, 5, 10]);
  });

  test("--seconds 0 makes the checks alone", async () => {
    const { code, stdout } = await doctor("--seconds", "0", "--json", "--runtime", "local");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).not.toHaveProperty("host_speed");
  });
});
