import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  ensurePythonEnvironment,
  findPythonEnvironment,
} from "../../../../src/runtimes/local/python-environment.js";
import { expectFailure } from "../../../helpers/errors.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { ROOT } from "../../../helpers/programs.js";

const newFolder = temporaryFolders();
afterEach(() => {
  vi.unstubAllEnvs();
});

const ensure = (root: string) =>
  ensurePythonEnvironment(root, () => {}, new AbortController().signal);

/** A checkout without its Python environment. */
function checkout(): string {
  const root = newFolder();
  cpSync(join(ROOT, "report"), join(root, "report"), { recursive: true });
  writeFileSync(join(root, "pyproject.toml"), "");
  return root;
}

test("a checkout uses its own Python environment, if it has one", async () => {
  const root = checkout();
  await expectFailure(
    () => findPythonEnvironment(root),
    EXIT.environment,
    "run ./scripts/setup.sh",
  );
  const python = join(root, ".venv/bin/python");
  mkdirSync(join(root, ".venv/bin"), { recursive: true });
  writeFileSync(python, "#!/bin/sh\n");
  chmodSync(python, 0o755);
  expect(await findPythonEnvironment(root)).toBe(join(root, ".venv"));
  expect(await ensure(root)).toBe(join(root, ".venv"));
});

test("a failed set-up is an environment error with the script's message", async () => {
  await expectFailure(() => ensure(checkout()), EXIT.environment, "run ./scripts/setup.sh");
});

test("a machine without Python is an environment error", async () => {
  vi.stubEnv("PATH", newFolder());
  await expectFailure(() => ensure(checkout()), EXIT.environment, "Python is missing");
});

test("Python starts whatever the variables of another Python say", async () => {
  for (const name of ["PYTHONHOME", "PYTHONPATH"]) vi.stubEnv(name, newFolder());
  writeFileSync(
    join(String(process.env.PYTHONPATH), "pathlib.py"),
    "raise SystemExit('of another Python')",
  );
  await expectFailure(() => ensure(checkout()), EXIT.environment, "run ./scripts/setup.sh");
});
