import { expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { measuredCampaign, measuredResults } from "../../helpers/measured-campaign.js";
import { needs } from "../../helpers/needs.js";

const newFolder = temporaryFolders();
const SHORT = ["--duration-mode", "requests:2000", "--warmup", "0.1"];

const measured = (clients: string, flags: readonly string[]) =>
  measuredResults(newFolder(), clients, [...SHORT, ...flags]);

test("three servers on one store: each has its share of the requests, its nonce and its resources", async () => {
  const flags = ["--servers", "3", "--concurrency", "9"];
  const [three] = await measured("iovalkey", flags);
  if (three?.admissions?.status !== "counted") throw new Error(three?.admissions?.reason);
  expect(three.configuration?.servers).toBe(3);
  const { keys, points, ...off } = three.admissions;
  expect(off).toEqual({ status: "counted", below: 0, above: 0 });
  expect(keys).toBeGreaterThan(100);
  expect([points.least, points.most]).toEqual([points.counted, points.counted]);
  const servers = ["server-1", "server-2", "server-3"];
  expect(three.consumers.map(({ id }) => id)).toEqual(servers);
  expect(new Set(three.consumers.map(({ run_nonce }) => run_nonce)).size).toBe(3);
  expect(Object.keys(three.resources).sort()).toEqual(["generator-1", ...servers, "store-1"]);
  // Nine connections, three each: the requests of a server follow its own speed.
  for (const { at_window_open, at_end } of three.consumers)
    expect(at_end.requests - at_window_open.requests).toBeGreaterThan(three.counts.sent / 9);
  expect(three.request.urls).toHaveLength(3);
});

test("a limiter that loses updates makes its run invalid, and the key that lost most is named", async () => {
  const flags = ["--servers", "2", "--concurrency", "20", "--traffic", "fixed", ...SHORT];
  const campaign = Campaign.run(newFolder(), "ioredis@valkey+non-atomic", flags);
  await campaign.ends(EXIT.runsInvalid);
  const [{ verdict, admissions } = { verdict: undefined, admissions: undefined }] =
    campaign.measured;
  expect(admissions).toMatchObject({
    status: "counted",
    keys: 1,
    below: 1,
    worst: { key: "user-0" },
  });
  const text = expect.stringContaining("user-0");
  expect(verdict?.reasons).toContainEqual({ rule: "M27", severity: "invalid", text });
});

test("the limiter layer beside the server layer: the same traffic and limiter, without a server", async () => {
  const results = await measured("iovalkey", ["--layer", "server,limiter"]);
  const ofLayer = (layer: string) =>
    results.filter(({ configuration }) => configuration?.layer === layer);
  expect([ofLayer("server").length, ofLayer("limiter").length]).toEqual([1, 1]);
  const [result] = ofLayer("limiter");
  if (!result) throw new Error("a result of the limiter layer");
  const { consumers, resources, prediction, counts } = result;
  expect(consumers.map(({ id }) => id)).toEqual(["generator-1"]);
  expect(Object.values(resources).map(({ kind }) => kind)).not.toContain("server");
  expect(result.request).toMatchObject({ urls: [], workload: "none" });
  expect(result.cpu_usage).toBeUndefined();
  expect(prediction?.limited_share).toBe(0.1);
  expect(counts.by_code).toEqual({ allowed: counts.allowed, limited: counts.limited });
  expect(result.calls_per_request).toBe(1);
  expect(resources["store-1"]?.kind).toBe("store");
});

test(
  "memcached beside a client of Redis; a cluster of it is skipped with the reason",
  needs(["memcached"]),
  async () => {
    const clients = "memcached,memcached:cluster,ioredis@valkey";
    const flags = [...SHORT, "--layer", "limiter"];
    const campaign = await measuredCampaign(newFolder(), clients, flags);
    expect(
      campaign.measured.map(({ configuration }) => configuration?.target.store).sort(),
    ).toEqual(["memcached", "valkey"]);
    expect(campaign.manifest.plan.skips).toEqual([
      { asked: "memcached:cluster", reason: expect.stringContaining("standalone") },
    ]);
    for (const { store, versions, configuration } of campaign.measured) {
      if (configuration?.target.store !== "memcached") continue;
      expect(versions.store).toMatch(/^1\.6\./);
      expect(store?.nodes[0]?.at_end.evicted_keys).toBe(0);
    }
  },
);
