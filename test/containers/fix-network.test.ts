import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownerText } from "../../src/runtimes/containers/labels.js";
import { startTimeOf } from "../../src/runtimes/processes.js";
import { docker, tryDocker } from "../helpers/engine.js";
import { ROOT } from "../helpers/programs.js";

/** A network with an owner; undefined: somebody else's. */
function network(name: string, owner: string | undefined): string {
  const full = `rlb-test-${process.pid}-${name}`;
  docker(
    "network",
    "create",
    ...(owner ? ["--label", `ratelimit-bench.owner=${owner}`] : []),
    full,
  );
  onTestFinished(() => void tryDocker("network", "rm", full));
  return full;
}

const fix = (...parameters: string[]) =>
  spawnSync("bash", [join(ROOT, "scripts/fix-network.sh"), ...parameters], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });

const isThere = (name: string) => tryDocker("network", "inspect", name).code === 0;

test("a network of a dead campaign goes; one of a live campaign and one of somebody else stay", async () => {
  const started = (await startTimeOf(process.pid)) ?? "";
  const left = network("left", ownerText({ pid: 1, started: "not-its-start" }));
  const live = network("live", ownerText({ pid: process.pid, started }));
  const foreign = network("foreign", undefined);

  const shown = fix();
  expect(shown.status).toBe(0);
  expect(shown.stdout).toContain(`left     ${left}`);
  expect(shown.stdout).toContain(`in use   ${live}`);
  expect(shown.stdout).not.toContain(foreign);
  expect(isThere(left)).toBe(true);

  expect(fix("--dry-run", "--yes").status).toBe(0);
  expect(isThere(left)).toBe(true);

  fix("--yes");
  expect([left, live, foreign].map(isThere)).toEqual([false, true, true]);
});
