import { afterEach, expect, test, vi } from "vitest";
import { programSources } from "../../../../src/orchestrator/campaign/program-sources.js";
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
