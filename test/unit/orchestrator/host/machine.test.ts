import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { gitRevision } from "../../../../src/orchestrator/host/machine.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const newFolder = temporaryFolders();

test("a package inside another checkout does not claim its revision", async () => {
  const folder = newFolder();
  expect(await gitRevision(folder)).toBeUndefined();
  const git = (...parameters: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", ...parameters], {
      encoding: "utf8",
    }).trim();
  git("init", "--quiet");
  writeFileSync(join(folder, "file"), "1");
  git("add", ".");
  git("commit", "--quiet", "--message", "first");
  const head = git("rev-parse", "HEAD");
  expect(await gitRevision(folder)).toBe(head);
  writeFileSync(join(folder, "file"), "2");
  expect(await gitRevision(folder)).toBe(`${head} with changes`);
  const inside = join(folder, "node_modules", "ratelimit-bench");
  mkdirSync(inside, { recursive: true });
  expect(await gitRevision(inside)).toBeUndefined();
});
