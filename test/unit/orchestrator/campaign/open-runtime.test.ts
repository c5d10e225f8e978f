import { afterEach, expect, test, vi } from "vitest";
import { EXIT } from "../../../../src/kit/errors.js";
import {
  expectedRuntime,
  expectedStores,
  programSources,
  requireUsablePlacement,
} from "../../../../src/orchestrator/campaign/open-runtime.js";
import { local } from "../../../../src/runtimes/local/local-runtime.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

afterEach(() => {
  vi.unstubAllEnvs();
});

const idsOf = (...flags: string[]) => programSources(requestOf(...flags)).map(({ id }) => id);

test("a campaign looks for the programs of the stores that its targets can use, and for no others", () => {
  expect(idsOf("--clients", "iovalkey,none,memory")).toEqual(["valkey"]);
  expect(idsOf("--clients", "ioredis@redis")).toEqual(["redis"]);
  // Valkey replaces Redis where there is none.
  expect(idsOf("--clients", "ioredis").sort()).toEqual(["redis", "valkey"]);
  expect(idsOf("--clients", "iovalkey+same-script").sort()).toEqual(["redis", "valkey"]);
  expect(idsOf("--clients", "controls")).toEqual([]);
  expect(idsOf("--clients", "ioredis", "--store-url", "redis://127.0.0.1:1")).toEqual([]);
});

test("a store's program and image are those that the user names, else the image of its variable, else its own", () => {
  vi.stubEnv("REDIS_IMAGE", "redis:7.4");
  vi.stubEnv("VALKEY_IMAGE", "valkey/valkey:9");
  const request = requestOf(
    "--clients",
    "ioredis",
    "--program",
    "redis=/opt/r",
    "--image",
    "valkey=mine:1",
  );
  expect(programSources(request)).toEqual([
    { id: "redis", command: "redis-server", path: "/opt/r", image: "redis:7.4" },
    { id: "valkey", command: "valkey-server", image: "mine:1" },
  ]);
  vi.stubEnv("REDIS_IMAGE", "");
  const [plain] = programSources(requestOf("--clients", "ioredis@redis"));
  expect(plain).toEqual({ id: "redis", command: "redis-server", image: "redis:8.0" });
});

test("the image of a store's version is its own with that tag; its program is the one of that name, else the store's", () => {
  vi.stubEnv("VALKEY_IMAGE", "registry:5000/valkey@sha256:0f");
  const flags = ["--program", "redis~7.4=/opt/r7", "--redis-server", "/opt/r"];
  const clients = "ioredis@valkey~9.1,ioredis@redis~7.4,ioredis@redis~8.0";
  expect(
    programSources(requestOf("--clients", clients, ...flags, "--image", "redis~8.0=mine:1")),
  ).toEqual([
    {
      id: "valkey~9.1",
      command: "valkey-server",
      version: "9.1",
      image: "registry:5000/valkey:9.1",
    },
    {
      id: "redis~7.4",
      command: "redis-server",
      version: "7.4",
      path: "/opt/r7",
      image: "redis:7.4",
    },
    { id: "redis~8.0", command: "redis-server", version: "8.0", path: "/opt/r", image: "mine:1" },
  ]);
});

test("a program of another version than was asked for is an unfit machine, in a dry run too", async () => {
  const node = ["--program", `valkey~1.0=${process.execPath}`];
  const request = requestOf("--clients", "ioredis@valkey~1.0", ...node);
  const refused = () => expectedStores(local, request, process.cwd());
  await expectFailure(refused, EXIT.environment, "--program valkey~1.0=PATH");
});

test("a named program needs this machine, a named image needs containers, and both need --runtime", async () => {
  const program = ["--program", "valkey=/opt/v"];
  const image = ["--image", "valkey=v:1"];
  expect((await expectedRuntime(requestOf(...program))).description.id).toBe("local");
  const both = requestOf(...program, ...image);
  await expectFailure(() => expectedRuntime(both), EXIT.usage, "--image", "--runtime");
  const chosen = await expectedRuntime(requestOf(...program, ...image, "--runtime", "docker"));
  expect(chosen.description.id).toBe("docker");
});

test("a named program that is not there is an unfit machine, also where no target uses it", async () => {
  const request = requestOf("--clients", "none", "--program", "valkey=/nowhere/valkey-server");
  await expectFailure(
    () => requireUsablePlacement(request),
    EXIT.environment,
    "/nowhere/valkey-server",
  );
});

test("a dry run does not look for the program of a store that the user runs", async () => {
  vi.stubEnv("PATH", "");
  const request = requestOf("--clients", "ioredis", "--store-url", "redis://127.0.0.1:1");
  expect((await expectedStores(local, request, process.cwd()))("redis")).toBe(true);
});
