import { basename, dirname } from "node:path";
import { expect, test } from "vitest";
import { configurationHash } from "../../../../src/contract/configuration.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { requireKnownPrograms } from "../../../../src/orchestrator/request/program-flags.js";
import { targetTexts } from "../../../../src/orchestrator/request/target-texts.js";
import { expectFailure } from "../../../helpers/errors.js";
import { parsed, requestOf } from "../../../helpers/request.js";

test("programs and images of any store are named, each flag several times; a path may hold commas", () => {
  const { place, record } = requestOf(
    "--program",
    "mystore=/opt/a,b/server",
    "--program",
    "redis=./redis-server",
    "--image",
    "valkey=registry:5000/valkey@sha256:0f",
    "--image",
    "redis=redis:7.4",
  );
  const { programs } = place;
  const { settings } = record;
  expect(programs).toEqual({
    paths: { mystore: "/opt/a,b/server", redis: "./redis-server" },
    images: { valkey: "registry:5000/valkey@sha256:0f", redis: "redis:7.4" },
  });
  // The manifest repeats them.
  expect(
    requestOf("--program", settings.program ?? "", "--image", settings.image ?? "").place.programs,
  ).toEqual(programs);
});

test("a store's program that a flag and a variable of its own name, too is the same one, or the flag's, with a notice", () => {
  const flag = ["--program", "valkey=/opt/a"];
  expect(requestOf(...flag, "--valkey-server", "/opt/a").place.programs.paths).toEqual({
    valkey: "/opt/a",
  });
  expect(requestOf(...flag, "--redis-server", "/opt/r").place.programs.paths).toEqual({
    valkey: "/opt/a",
    redis: "/opt/r",
  });
  const request = parsed(["--clients", "iovalkey", ...flag], { VALKEY_SERVER: "/opt/b" });
  expect(request.place.programs.paths).toEqual({ valkey: "/opt/a" });
  expect(request.notices).toEqual(["--program valkey=/opt/a wins over VALKEY_SERVER /opt/b"]);
});

test("programs of a store's versions are named by --store-versions, too", async () => {
  const { place, targets } = requestOf(
    "--store-versions",
    "valkey~8.1,valkey~9.1=/opt/a,b,redis~7",
  );
  expect(place.programs.paths).toEqual({ "valkey~9.1": "/opt/a,b" });
  expect(targets.storeVersions).toEqual(["valkey~8.1", "valkey~9.1", "redis~7"]);
  await expectFailure(() => requestOf("--store-versions", "valky~8.1"), EXIT.usage, "valkey?");
  await expectFailure(() => requestOf("--store-versions", "memory~1"), EXIT.usage, "memory");
  const FORM = "NAME~VERSION";
  for (const text of ["valkey~", "valkey", "valkey~8.1,redis", "valkey~8.1=", "~8", "valkey~../x"])
    await expectFailure(
      () => requestOf("--store-versions", text),
      EXIT.usage,
      "--store-versions",
      FORM,
    );
});

test("each target is measured in each Node of --node, by the version that it prints; containers have their own", async () => {
  const own = process.versions.node;
  const request = requestOf("--clients", "ioredis,memory+node-1.2.3", "--node", process.execPath);
  expect(targetTexts(request.targets)).toEqual([`ioredis+node-${own}`, "memory+node-1.2.3"]);
  expect(request.place.programs.paths).toEqual({ [`node~${own}`]: process.execPath });
  requireKnownPrograms(request.place.programs);
  const twice = `${process.execPath},${dirname(process.execPath)}/./${basename(process.execPath)}`;
  await expectFailure(() => requestOf("--node", twice), EXIT.usage, "--node", own);
  await expectFailure(() => requestOf("--node", "/bin/true"), EXIT.usage, "--node", "/bin/true");
  await expectFailure(() => requestOf("--node", "/nowhere/node"), EXIT.usage, "/nowhere/node");
  await expectFailure(() => requestOf("--node", ","), EXIT.usage, "--node");
  const docker = () => requestOf("--node", process.execPath, "--runtime", "docker");
  await expectFailure(docker, EXIT.usage, "--node", "--runtime local");
});

test.each([
  ["--program", "/opt/valkey-server", "NAME=PATH"],
  ["--program", "valkey=", "NAME=PATH"],
  ["--program", "=/opt/valkey-server", "NAME=PATH"],
  ["--image", "redis:8", "NAME=REF"],
  ["--image", "<b>=x", "NAME=REF"],
  ["--image", "redis=--rm", "NAME=REF"],
  ["--image", "redis=$(touch x)", "NAME=REF"],
])("%s %s is bad usage", async (flag, value, form) => {
  await expectFailure(() => requestOf(flag, value), EXIT.usage, flag, value, form);
});

test("a name must be a store's that has a program; the nearest is suggested", async () => {
  const check = (...flags: string[]) => requireKnownPrograms(requestOf(...flags).place.programs);
  check("--program", "redis=/opt/r", "--image", "valkey=v:1");
  check("--program", "valkey~8.1=/opt/v8", "--image", "redis~mine=r:1");
  await expectFailure(
    () => check("--program", "memory~1=/x"),
    EXIT.usage,
    "--program",
    '"memory~1"',
  );
  await expectFailure(
    () => check("--program", "valky=/x"),
    EXIT.usage,
    "--program",
    '"valky"',
    "valkey?",
  );
  await expectFailure(() => check("--image", "memory=x:1"), EXIT.usage, "--image", '"memory"');
});

const setting = (text: string) => ["--service-env", `envoy-ratelimit:${text}`];
const planOf = (...flags: string[]) => makePlan(requestOf(...flags), { available: () => true });

test("settings of a service are given each with its flag; a value may hold commas and equals signs", () => {
  const {
    targets: { serviceEnv },
    record: { settings },
  } = requestOf(...setting("REDIS_POOL_SIZE=5"), ...setting("A=b,c=d,E_F"));
  expect(serviceEnv).toEqual({ "envoy-ratelimit": { REDIS_POOL_SIZE: "5", A: "b,c=d,E_F" } });
  // The manifest repeats them.
  expect(requestOf("--service-env", settings["service-env"] ?? "").targets.serviceEnv).toEqual(
    serviceEnv,
  );
});

test.each([
  ["REDIS_POOL_SIZE=5", "SERVICE:NAME=value"],
  ["envoy-ratelimit:pool=5", "SERVICE:NAME=value"],
  ["envoy-ratelimit:$(x)=5", "SERVICE:NAME=value"],
  ["envoy:A=5", "there is no service"],
  ["envoy-ratelimit:PORT=1", "PORT"],
  ["envoy-ratelimit:GRPC_PORT=1", "GRPC_PORT"],
  ["envoy-ratelimit:PROMETHEUS_ADDR=:1", "PROMETHEUS_ADDR"],
  ["envoy-ratelimit:REDIS_URL=x:1", "REDIS_URL"],
  ["envoy-ratelimit:MEMCACHE_HOST_PORT=x:1", "MEMCACHE_HOST_PORT"],
  ["envoy-ratelimit:LOCAL_CACHE_SIZE_IN_BYTES=1", "LOCAL_CACHE_SIZE_IN_BYTES"],
  ["envoy-ratelimit:A=1,envoy-ratelimit:A=2", "A=1 and A=2"],
])("--service-env %s is bad usage", async (value, reason) => {
  await expectFailure(() => requestOf("--service-env", value), EXIT.usage, reason);
});

test("they belong to the configurations of targets with that service, and to their hash", () => {
  const clients = ["--clients", "envoy-http@redis,ioredis", "--concurrency", "10"];
  const hashes = (...flags: string[]) =>
    new Map(
      planOf(...clients, ...flags).configurations.map(({ hash, configuration }) => {
        expect(hash).toBe(configurationHash(configuration));
        expect(configuration.service_env !== undefined).toBe(
          flags.length > 0 && configuration.target.client === "envoy-http",
        );
        return [configuration.target.client, hash];
      }),
    );
  const [plain, changed] = [hashes(), hashes(...setting("REDIS_POOL_SIZE=5"))];
  expect(changed.get("ioredis")).toBe(plain.get("ioredis"));
  expect(changed.get("envoy-http")).not.toBe(plain.get("envoy-http"));
});

test("a setting that an option of the target also makes is a contradiction: the target is skipped", () => {
  const clients = ["--clients", "envoy-http@redis,envoy-http@redis+pipeline-75us"];
  const { skips, configurations } = planOf(...clients, ...setting("REDIS_PIPELINE_WINDOW=1ms"));
  expect(
    configurations.map(({ configuration }) => configuration.target.options.length),
  ).not.toContain(1);
  expect(skips[0]).toMatchObject({
    asked: "envoy-http+pipeline-75us",
    reason: expect.stringContaining("REDIS_PIPELINE_WINDOW"),
  });
});
