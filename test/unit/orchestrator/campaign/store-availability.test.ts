import { afterEach, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import { expectedStores } from "../../../../src/orchestrator/campaign/store-availability.js";
import { local } from "../../../../src/runtimes/local/local-runtime.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a program of another version than was asked for is an unfit machine, in a dry run too", async () => {
  const node = ["--program", `valkey~1.0=${process.execPath}`];
  const request = requestOf("--clients", "ioredis@valkey~1.0", ...node);
  const refused = () => expectedStores(local, request, process.cwd());
  await expectFailure(refused, EXIT.environment, "--program valkey~1.0=PATH");
});

test("a dry run does not look for the program of a store that the user runs", async () => {
  vi.stubEnv("PATH", "");
  const request = requestOf("--clients", "ioredis", "--store-url", "redis://127.0.0.1:1");
  expect((await expectedStores(local, request, process.cwd()))("redis")).toBe(true);
});
