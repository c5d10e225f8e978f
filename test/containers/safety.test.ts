import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { added, docker, everything, foreign, running, runs, tryDocker } from "../helpers/engine.js";
import { expectComplete } from "../helpers/expectations.js";
import { temporaryFolders } from "../helpers/folders.js";
import { ROOT } from "../helpers/programs.js";

const DOCKER = ["--runtime", "docker"];
const newFolder = temporaryFolders();

beforeAll(() => {
  docker("version");
});

/**
 * An image with nothing in it, as it would have been built for an earlier state of a copy of the
 * project.
 */
function image(tag: string, packageFolder: string): string {
  const label = createHash("sha256").update(resolve(packageFolder)).digest("hex").slice(0, 16);
  const name = `ratelimit-bench-server:${tag}`;
  const built = spawnSync(
    "docker",
    ["build", "--label", `ratelimit-bench.package=${label}`, "--tag", name, "-"],
    { input: `FROM scratch\nENV MADE_FOR=${tag}\n`, encoding: "utf8" },
  );
  expect(built.status, built.stderr).toBe(0);
  onTestFinished(() => void tryDocker("image", "rm", name));
  return name;
}
const isThere = (name: string): boolean => tryDocker("image", "inspect", name).code === 0;

test("kill -9 leaves what `clean` removes, of this campaign alone; --resume goes on [R-killed-5]", async () => {
  const others = foreign();
  const before = everything();
  const home = newFolder();
  const killed = Campaign.run(home, "iovalkey", [...DOCKER, "--runs", "2"]);
  await killed.waitForLog("measure", 2);
  killed.signal("SIGKILL");
  await killed.ended;
  const [kept = ""] = killed.results.keys();
  const bytes = readFileSync(join(killed.folder, kept));

  const mine = image("000000000000", ROOT);
  const theirs = image("111111111111", "/somewhere/else");
  const shown = await Campaign.command(home, ["clean"]).ended;
  expect(shown.code).toBe(2);
  expect(shown.stdout).toContain(mine);
  expect(shown.stdout).not.toContain(theirs);
  expect(added(before)).not.toEqual([]);
  expect((await Campaign.command(home, ["clean", "--yes"]).ended).code).toBe(0);
  expect([isThere(mine), isThere(theirs)]).toEqual([false, true]);
  expect(added(before)).toEqual([]);

  const campaign = Campaign.resume(home);
  await campaign.ends();
  await expectComplete(campaign);
  expect(readFileSync(join(campaign.folder, kept))).toEqual(bytes);
  expect(campaign.manifest.runtime.id).toBe("docker");
  expect(added(before)).toEqual([]);
  expect(runs(others)).toBe(true);
});

describe("while an image is built", () => {
  /** A builder that never comes to an end, in front of the real one. */
  function building(home: string): Campaign {
    const programs = join(home, "programs");
    mkdirSync(programs);
    const real =
      docker("version").length > 0
        ? spawnSync("which", ["docker"], { encoding: "utf8" }).stdout.trim()
        : "";
    const script = `#!/bin/sh\n[ "$1" = build ] || exec '${real}' "$@"\nsleep 600 & wait\n`;
    writeFileSync(join(programs, "docker"), script, { mode: 0o755 });
    const env = { PATH: `${programs}:${process.env.PATH}`, NODE_VERSION: "24-that-is-not-built" };
    return Campaign.run(home, "none", DOCKER, env);
  }

  test("Ctrl-C ends the build, and nothing is left [R-interrupt-7]", async () => {
    const home = newFolder();
    const campaign = building(home);
    await campaign.part("helper");
    campaign.signal("SIGINT");
    expect((await campaign.ended).code).toBe(130);
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("kill -9 leaves a build that `clean` ends [R-killed-6]", async () => {
    const home = newFolder();
    const campaign = building(home);
    await campaign.part("helper");
    campaign.signal("SIGKILL");
    await campaign.ended;
    expect((await campaign.runningProcesses()).map(({ role }) => role)).toEqual(["helper"]);
    expect((await Campaign.command(home, ["clean", "--yes"]).ended).code).toBe(0);
    expect(await campaign.leftovers()).toEqual([]);
  });
});

test("a server that runs out of memory fails its run with that reason, no restart hides it, and the next run goes on [R-server-dies-2] [R-server-dies-3]", async () => {
  const before = everything();
  const campaign = Campaign.run(newFolder(), "none", [
    ...DOCKER,
    "--duration-mode",
    "custom:5",
    "--runs",
    "2",
  ]);
  await campaign.waitForLog("measure");
  const server = running().get("server-1") ?? "";
  docker("update", "--memory", "200m", "--memory-swap", "200m", server);
  // Something takes all there is; the kernel is told whom to end for it.
  const hog = "const taken = []; for (;;) taken.push(Buffer.alloc(1e7, 1))";
  tryDocker("exec", server, "sh", "-c", `echo 1000 > /proc/1/oom_score_adj; exec node -e '${hog}'`);
  expect((await campaign.ended).code).toBe(4);
  const [result, next] = campaign.results.values();
  expect(result).toMatchObject({ status: "failed", failure: { role: "server-1" } });
  expect(JSON.stringify(result)).toContain("out of memory");
  expect(next?.status).toBe("measured");
  expect(added(before)).toEqual([]);
});
