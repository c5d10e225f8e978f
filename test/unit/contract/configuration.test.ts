import { describe, expect, test } from "vitest";
import {
  type Configuration,
  configurationFileName,
  configurationHash,
} from "../../../src/contract/configuration.js";

const configuration: Configuration = {
  layer: "server",
  target: {
    text: "iovalkey@valkey:cluster",
    label: "iovalkey:cluster",
    client: "iovalkey",
    store: "valkey",
    topology: "cluster",
    limiter: "rate-limiter-flexible",
    decided_by: "library",
    options: [],
  },
  servers: 1,
  workload: { id: "heavy", complexity: 10 },
  traffic: "realistic",
  load: { model: "closed", connections: 100 },
  extent: { duration_s: 30 },
  limits: { points: 100, window_s: 60, block_s: 0 },
  caps: {},
};

const open = {
  model: "open",
  rate_per_second: 5000,
  arrivals: "constant",
  connections: 200,
} as const;

describe("the hash of a configuration", () => {
  test("never changes: campaigns of different years stay comparable", () => {
    expect(configurationHash(configuration)).toBe("347f7c84c332f17d");
  });

  test("does not depend on the order in which members were set", () => {
    const reversed = Object.fromEntries(Object.entries(configuration).reverse()) as Configuration;
    expect(configurationHash(reversed)).toBe(configurationHash(configuration));
  });

  test("does not depend on the label, which depends on the available stores", () => {
    const target = { ...configuration.target, label: "iovalkey@valkey:cluster" };
    expect(configurationHash({ ...configuration, target })).toBe(configurationHash(configuration));
  });

  test.each<[string, Partial<Configuration>]>([
    ["target", { target: { ...configuration.target, text: "iovalkey@valkey:standalone" } }],
    ["limiter", { target: { ...configuration.target, limiter: "none" } }],
    ["workload", { workload: { id: "light" } }],
    ["complexity", { workload: { id: "heavy", complexity: 11 } }],
    ["traffic", { traffic: "fixed" }],
    ["load", { load: { model: "closed", connections: 101 } }],
    ["model", { load: { ...open, connections: 100 } }],
    ["duration", { extent: { duration_s: 31 } }],
    ["requests", { extent: { requests: 30 } }],
    ["points", { limits: { ...configuration.limits, points: 101 } }],
    ["window", { limits: { ...configuration.limits, window_s: 61 } }],
    ["block", { limits: { ...configuration.limits, block_s: 1 } }],
    ["layer", { layer: "limiter" }],
    ["servers", { servers: 2 }],
    ["generators", { generators: 2 }],
    ["caps", { caps: { server: { cpus: 1 } } }],
  ])("changes with the %s", (_what, change) => {
    expect(configurationHash({ ...configuration, ...change })).not.toBe(
      configurationHash(configuration),
    );
  });
});

test.each([
  ["rate", { rate_per_second: 5001 }],
  ["arrivals", { arrivals: "poisson" as const }],
  ["connections", { connections: 201 }],
])("the hash of an open loop changes with its %s", (_what, change) => {
  const hash = configurationHash({ ...configuration, load: open });
  expect(configurationHash({ ...configuration, load: { ...open, ...change } })).not.toBe(hash);
});

test("limits of which there are several values are in the file name, and any cost", () => {
  const limits = { points: 10, window_s: 5, block_s: 0 };
  const name = (cost: object, ...listed: ("points" | "window_s")[]) =>
    configurationFileName(
      { ...configuration, limits: { ...limits, ...cost } },
      "realistic",
      listed,
    );
  expect(name({})).toBe("iovalkey-cluster_heavy_100c_30s");
  expect(name({ cost: 5 })).toBe("iovalkey-cluster_heavy_100c_30s_cost5");
  expect(name({ cost: 5 }, "window_s", "points")).toBe(
    "iovalkey-cluster_heavy_100c_30s_10points_5s-window_cost5",
  );
});

test.each<[string, Partial<Configuration>]>([
  ["iovalkey-cluster_heavy_100c_30s", {}],
  ["iovalkey-cluster_heavy_100c_30s_fixed", { traffic: "fixed" }],
  ["iovalkey-cluster_heavy_5000rps-200c_30s", { load: open }],
  [
    "iovalkey-cluster_heavy_0.5rps-poisson-200c_30s",
    { load: { ...open, rate_per_second: 0.5, arrivals: "poisson" } },
  ],
  ["iovalkey-cluster_heavy_100c_500r", { extent: { requests: 500 } }],
  ["iovalkey-cluster_heavy_100c_30s_2servers_fixed", { servers: 2, traffic: "fixed" }],
  ["iovalkey-cluster_limiter_100c_30s", { layer: "limiter", servers: 0, workload: { id: "none" } }],
  ["iovalkey-cluster_light_100c_0.5s", { workload: { id: "light" }, extent: { duration_s: 0.5 } }],
])("the file name of a configuration is %s", (name, change) => {
  expect(configurationFileName({ ...configuration, ...change }, "realistic")).toBe(name);
});
