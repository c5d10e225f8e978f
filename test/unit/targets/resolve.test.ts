import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { clients } from "../../../src/targets/clients/index.js";
import { didYouMean } from "../../../src/targets/did-you-mean.js";
import { options } from "../../../src/targets/options.js";
import { describeClient, resolveTarget, unsupportedLimits } from "../../../src/targets/resolve.js";
import { expectFailure } from "../../helpers/errors.js";
import { targetOf } from "../../helpers/target.js";

test("the closest of several similar words is suggested, and none if no word is similar", () => {
  expect(didYouMean("heav", ["heaven", "heavy", "light"])).toBe(
    " (did you mean heavy?); valid: heaven, heavy, light",
  );
  expect(didYouMean("x".repeat(300), ["heavy"])).toBe("; valid: heavy");
});

const skip = (text: string): string => {
  const resolution = resolveTarget(text);
  return "skip" in resolution ? resolution.skip : `not skipped: ${resolution.target.text}`;
};

test.each([
  "none+tls",
  "memory+tls",
  "memcached+tls",
  "envoy-http+tls",
  "ioredis@throttlecrab+tls",
  "iovalkey:cluster+tls",
])("%s has no store that could get a certificate", (text) => expect(skip(text)).toContain("tls"));

describe("a target with options", () => {
  test.each([
    ["iovalkey+same-script", "iovalkey@valkey:standalone+same-script", "iovalkey+same-script"],
    [
      "iovalkey@redis+same-script",
      "iovalkey@redis:standalone+same-script",
      "iovalkey@redis+same-script",
    ],
    [
      "valkey-glide+same-script",
      "valkey-glide@valkey:standalone+same-script",
      "valkey-glide+same-script",
    ],
    [
      "ioredis@valkey+same-script",
      "ioredis@valkey:standalone+same-script",
      "ioredis@valkey+same-script",
    ],
    ["node-redis+same-script", "node-redis@redis:standalone+same-script", "node-redis+same-script"],
    ["node-redis@valkey:cluster", "node-redis@valkey:cluster", "node-redis@valkey:cluster"],
    [
      "iovalkey+autopipelining",
      "iovalkey@valkey:standalone+autopipelining",
      "iovalkey+autopipelining",
    ],
    ["ioredis~5.6.1", "ioredis~5.6.1@redis:standalone", "ioredis~5.6.1"],
    ["ioredis@redis~8.0", "ioredis@redis~8.0:standalone", "ioredis@redis~8.0"],
    ["iovalkey+node-22.11", "iovalkey@valkey:standalone+node-22.11", "iovalkey+node-22.11"],
    ["none+node-22.11.0", "none+node-22.11.0", "none+node-22.11.0"],
    ["ioredis+tls", "ioredis@redis:standalone+tls", "ioredis+tls"],
    ["valkey-glide@valkey+tls", "valkey-glide@valkey:standalone+tls", "valkey-glide+tls"],
    ["memcached", "memcached@memcached:standalone", "memcached"],
    [
      "ioredis~5.6.1@valkey+same-script+rate-limiter-flexible~7.1.1",
      "ioredis~5.6.1@valkey:standalone+rate-limiter-flexible~7.1.1+same-script",
      "ioredis~5.6.1@valkey+rate-limiter-flexible~7.1.1+same-script",
    ],
    [
      "ioredis+same-script+autopipelining",
      "ioredis@redis:standalone+autopipelining+same-script",
      "ioredis+autopipelining+same-script",
    ],
  ])("%s is %s, labelled %s", (asked, text, label) => {
    expect(targetOf(asked)).toMatchObject({ text, label });
    expect(targetOf(text)).toEqual(targetOf(asked));
  });

  test("has the requested versions; naming the client's own limiter changes nothing", () => {
    expect(targetOf("ioredis~5.6.1+rate-limiter-flexible~7.1.1")).toMatchObject({
      client_version: "5.6.1",
      limiter: "rate-limiter-flexible",
      limiter_version: "7.1.1",
      options: [],
    });
    expect(targetOf("iovalkey+fastify-rate-limit~10.3.0")).toMatchObject({
      limiter: "fastify-rate-limit",
      limiter_version: "10.3.0",
      options: ["fastify-rate-limit"],
    });
    expect(targetOf("ioredis+rate-limiter-flexible")).toEqual(targetOf("ioredis"));
  });

  test.each([
    ["iovalkey", {}],
    ["iovalkey+same-script", { same_script: true }],
    ["iovalkey+tuned", { settings: "tuned" }],
    ["iovalkey+tls", { encrypted: true }],
    ["ioredis@valkey:cluster+copy", { copy_of: "ioredis@valkey:cluster" }],
    ["iovalkey+copy+same-script", { copy_of: "iovalkey+same-script", same_script: true }],
  ])(
    "%s states what its options mean, so that nobody reads them from its text",
    (text, properties) => {
      const { same_script, settings, encrypted, copy_of } = targetOf(text);
      const absent = {
        same_script: undefined,
        settings: undefined,
        encrypted: undefined,
        copy_of: undefined,
      };
      expect({ same_script, settings, encrypted, copy_of }).toEqual({ ...absent, ...properties });
    },
  );

  test("keeps its client's default store, which only a store that runs the script replaces", () => {
    const noValkey = (store: string) => store !== "valkey";
    expect(targetOf("valkey-glide+same-script").store).toBe("valkey");
    expect(targetOf("valkey-glide+same-script", noValkey).store).toBe("redis");
    expect(resolveTarget("valkey-glide", noValkey)).toEqual({
      skip: "no valkey-server was found on this machine",
    });
  });
});

describe("an impossible target is a skip with its reason", () => {
  test.each([
    ["iovalkey@redis", "redis", "+same-script"],
    ["valkey-glide@redis:cluster", "redis", "+same-script"],
    ["none~1.0.0", "none"],
    ["none+rate-limiter-flexible~7.1.1", "rate-limiter-flexible"],
    ["valkey-glide+fastify-rate-limit~10.3.0", "+fastify-rate-limit", "ioredis"],
    ["node-redis+autopipelining", "+autopipelining"],
    ["memory+autopipelining", "+autopipelining"],
    ["memcached+same-script", "+same-script"],
    ["ioredis+same-script+fastify-rate-limit", "+same-script", "fastify-rate-limit"],
    ["memory@valkey", "valkey"],
    ["memcached:cluster", "standalone"],
    ["memcached@valkey", "valkey"],
    ["ioredis@memcached", "memcached"],
  ])("%s", (text, ...parts) => {
    for (const part of parts) expect(skip(text)).toContain(part);
  });

  test("only options that would help are suggested", () => {
    expect(skip("memory@valkey")).not.toContain("+");
  });
});

test("an unknown option is a usage error that suggests the nearest one", async () => {
  await expectFailure(
    () => resolveTarget("ioredis+same-scrpt"),
    EXIT.usage,
    "did you mean same-script?",
  );
  const refused = () => resolveTarget("ioredis+x");
  await expectFailure(refused, EXIT.usage, "valid: fastify-rate-limit, ", "same-script");
  // Also where the client could not be measured anyway.
  await expectFailure(() => resolveTarget("memory+same-scrpt"), EXIT.usage, "same-script");
});

test("+fastify-rate-limit is another limiter, on either store, also for the control in memory", () => {
  expect(targetOf("iovalkey+fastify-rate-limit")).toMatchObject({
    text: "iovalkey@valkey:standalone+fastify-rate-limit",
    limiter: "fastify-rate-limit",
  });
  expect(targetOf("iovalkey@redis:cluster+fastify-rate-limit").store).toBe("redis");
  expect(targetOf("ioredis+fastify-rate-limit+autopipelining").options).toEqual([
    "autopipelining",
    "fastify-rate-limit",
  ]);
  // The server is told the text alone: it must not name the plain control.
  expect(targetOf("memory+fastify-rate-limit").text).toBe("memory+fastify-rate-limit");
  expect(targetOf("ioredis").limiter).toBe("rate-limiter-flexible");
});

describe("the client that a target's options make", () => {
  test("runs the class with the same script, from its own description", () => {
    for (const { id } of clients.filter(({ sameScript }) => sameScript)) {
      const { flexible, stores } = describeClient(targetOf(`${id}@redis+same-script`));
      expect(flexible?.className).toBe("RateLimiterRedis");
      expect([...stores].sort()).toEqual(["redis", "valkey"]);
    }
    expect(describeClient(targetOf("iovalkey")).flexible?.className).toBe("RateLimiterValkey");
  });

  test("is opened with the settings of its options, and with none without options", async () => {
    const client = clients.find(({ id }) => id === "ioredis");
    const option = options.find(({ id }) => id === "autopipelining");
    if (!client || !option) throw new Error("they are in their lists");
    const asked: unknown[] = [];
    const spied = {
      ...client,
      open: async (_place: unknown, tuning: unknown) => {
        asked.push(tuning);
        return client.open({ store: "none", topology: "none", nodes: [] });
      },
    };
    const varied = option.apply(spied, "standalone", "autopipelining");
    if ("skip" in varied) throw new Error(varied.skip);
    await expect(varied.open({ store: "none", topology: "none", nodes: [] })).rejects.toThrow(
      "no node",
    );
    expect(asked).toEqual([{ autoPipelining: true }]);
  });

  test("cannot have an option that the client does not support", async () => {
    const impossible = {
      client: "node-redis",
      topology: "standalone",
      options: ["autopipelining"],
    };
    await expectFailure(
      () => describeClient(impossible),
      EXIT.usage,
      "does not support +autopipelining",
    );
  });
});

describe("ThrottleCrab, a store whose limiter is its own,", () => {
  test("gives it to the clients that can connect, without an option", () => {
    for (const client of ["ioredis", "iovalkey", "node-redis"]) {
      const target = targetOf(`${client}@throttlecrab`);
      expect(target).toMatchObject({
        label: `${client}@throttlecrab`,
        text: `${client}@throttlecrab:standalone`,
        limiter: "throttlecrab",
        decided_by: "service",
        algorithm: "GCRA",
      });
      expect(describeClient(target).flexible).toBeUndefined();
    }
    expect(targetOf("throttlecrab-http")).toMatchObject({
      store: "throttlecrab",
      label: "throttlecrab-http",
    });
    expect(targetOf("throttlecrab-grpc+adaptive").options).toEqual(["adaptive"]);
  });

  test("is refused with the reason where it cannot be what the text says", () => {
    for (const [text, named] of [
      ["valkey-glide@throttlecrab", "valkey-glide"],
      ["memcached@throttlecrab", "throttlecrab"],
      ["ioredis@throttlecrab:cluster", "standalone"],
      ["ioredis@throttlecrab+same-script", "+same-script"],
      ["ioredis@throttlecrab+redis-gcra", "+redis-gcra"],
      ["ioredis@redis+adaptive", "ThrottleCrab"],
      ["throttlecrab-http+adaptive+periodic", "+adaptive"],
      ["throttlecrab-http@redis", "redis"],
    ] as const)
      expect(skip(text), text).toContain(named);
  });

  test("cannot keep a quota of one point, which it never denies", () => {
    const limits = { window_s: 60, block_s: 0 };
    const target = targetOf("ioredis@throttlecrab");
    expect(unsupportedLimits(target, { ...limits, points: 1 })).toContain("never denies");
    expect(unsupportedLimits(target, { ...limits, points: 2 })).toBeUndefined();
    expect(unsupportedLimits(target, { ...limits, points: 2, block_s: 7 })).toContain("7 s");
  });
});

test("gubernator has two algorithms: its leaky bucket is an option that keeps its store", () => {
  for (const client of ["gubernator-http", "gubernator-grpc"]) {
    expect(targetOf(client)).toMatchObject({ limiter: "gubernator", algorithm: "fixed window" });
    const leaky = targetOf(`${client}+gubernator-leaky`);
    expect(leaky).toMatchObject({ limiter: "gubernator-leaky", algorithm: "token bucket" });
    // Its full text is one that can be named.
    expect(targetOf(leaky.text)).toEqual(leaky);
    expect(describeClient(leaky).limiter).toBe("gubernator-leaky");
  }
  for (const text of [
    "ioredis@gubernator",
    "ioredis+gubernator-leaky",
    "throttlecrab-http+gubernator-leaky",
  ])
    expect(skip(text), text).toContain("gubernator");
});

test("a block is unsupported where it could not be told from a decision", () => {
  const limits = { points: 1, window_s: 1, block_s: 0 };
  expect(unsupportedLimits(targetOf("memcached"), limits)).toBeUndefined();
  expect(unsupportedLimits(targetOf("memcached"), { ...limits, block_s: 7 })).toContain("7 s");
  expect(unsupportedLimits(targetOf("ioredis"), { ...limits, block_s: 7 })).toBeUndefined();
});
