import { describe, expect, test } from "vitest";
import { requestedVersions } from "../../../../src/orchestrator/host/versions.js";
import { labelsOf, planFor } from "../../../helpers/request.js";

describe("versions side by side", () => {
  const labels = (...flags: string[]) => labelsOf(planFor(...flags, "--concurrency", "10"));

  test("each target is combined with each limiter, unless it names its own or has none", () => {
    const limiters = "rate-limiter-flexible~7.1.1,rate-limiter-flexible,fastify-rate-limit~10.3.0";
    const clients = "ioredis~5.6.1,iovalkey+fastify-rate-limit,none";
    expect(labels("--clients", clients, "--limiter", limiters)).toEqual([
      "ioredis~5.6.1+rate-limiter-flexible~7.1.1",
      "ioredis~5.6.1",
      "ioredis~5.6.1+fastify-rate-limit~10.3.0",
      "iovalkey+fastify-rate-limit",
      "none",
    ]);
  });

  test("each target is measured on each version of the stores that it can use, unless it names one", () => {
    const versions = ["--store-versions", "valkey~8.1,valkey~9.1=/opt/a,b/valkey-server,redis~8.0"];
    expect(
      labels("--clients", "ioredis,iovalkey@valkey,node-redis@redis~7.4,memory", ...versions),
    ).toEqual([
      "ioredis@valkey~8.1",
      "ioredis@valkey~9.1",
      "ioredis@redis~8.0",
      "iovalkey@valkey~8.1",
      "iovalkey@valkey~9.1",
      "node-redis@redis~7.4",
      "memory",
    ]);
  });

  test("no two versions share a file or a hash, and targets without one keep theirs", () => {
    const clients = "ioredis,iovalkey:cluster,memory,ioredis+fastify-rate-limit";
    const flags = ["--clients", clients, "--window", "60"];
    const hashes = (...more: string[]) =>
      planFor(...flags, "--concurrency", "10", ...more).configurations.map(({ hash }) => hash);
    // As in the first campaign: a row can be followed over time.
    const before = ["87fa53feb878ea69", "1f1b6b5bfdd7a769", "4f3cac50289c7609", "411e9c17da3d365c"];
    expect(hashes()).toEqual(before);
    const versions =
      "rate-limiter-flexible~7.1.1,rate-limiter-flexible~11.4.0,rate-limiter-flexible";
    const all = hashes("--limiter", versions);
    expect(all).toEqual(expect.arrayContaining(before));
    expect(new Set(all).size).toBe(3 * 3 + 1);
    expect(new Set(hashes("--store-versions", "redis~8.0,redis~7.4,valkey~8.1")).size).toBe(
      3 + 1 + 1 + 3,
    );
    const { runs } = planFor(...flags, "--concurrency", "10", "--limiter", versions, "--runs", "1");
    expect(new Set(runs.map(({ file }) => file)).size).toBe(runs.length);
    for (const { file } of runs) expect(file).toMatch(/^[\w.-]+$/);
  });

  test("each package version that a target requests is installed once", () => {
    const clients = "ioredis~5.6.1,ioredis~5.6.1@valkey,valkey-glide~2.4.1,node-redis~5.8.0";
    const limiters = "rate-limiter-flexible~7.1.1,fastify-rate-limit~10.3.0";
    const plan = planFor("--clients", clients, "--limiter", limiters);
    expect(requestedVersions(plan).map(({ name, version }) => `${name} ${version}`)).toEqual([
      "ioredis 5.6.1",
      "rate-limiter-flexible 7.1.1",
      "@fastify/rate-limit 10.3.0",
      "@valkey/valkey-glide 2.4.1",
      "redis 5.8.0",
    ]);
    expect(requestedVersions(planFor("--clients", "all,controls"))).toEqual([]);
  });
});
