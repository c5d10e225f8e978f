import { expect, test } from "vitest";
import { configurationHash } from "../../../../src/contract/configuration.js";
import { EXIT } from "../../../../src/contract/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { expectFailure } from "../../../helpers/errors.js";
import { requestOf } from "../../../helpers/request.js";

const setting = (text: string) => ["--service-env", `envoy-ratelimit:${text}`];
const planOf = (...flags: string[]) => makePlan(requestOf(...flags), { available: () => true });

test("settings of a service are given each with its flag; a value may hold commas and equals signs", () => {
  const { serviceEnv, settings } = requestOf(...setting("REDIS_POOL_SIZE=5"), ...setting("A=b,c=d,E_F"));
  expect(serviceEnv).toEqual({ "envoy-ratelimit": { REDIS_POOL_SIZE: "5", A: "b,c=d,E_F" } });
  // The manifest repeats them.
  expect(requestOf("--service-env", settings["service-env"] ?? "").serviceEnv).toEqual(serviceEnv);
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
  expect(configurations.map(({ configuration }) => configuration.target.options.length)).not.toContain(1);
  expect(skips[0]).toMatchObject({
    asked: "envoy-http+pipeline-75us",
    reason: expect.stringContaining("REDIS_PIPELINE_WINDOW"),
  });
});
