import { describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { envoyProgram } from "../../helpers/envoy.js";
import { expectConsistent } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { validCampaign } from "../../helpers/measured-campaign.js";
import { needs } from "../../helpers/needs.js";

const newFolder = temporaryFolders();

const PROGRAM = ["--program", `envoy-ratelimit=${envoyProgram()}`];
const SHORT = ["--duration-mode", "requests:1000", "--warmup", "0.1"];
/** Traffic whose requests have two descriptors each. */
const TWO_KEYS = ["--traffic", "mixed2"];
const { tags, skip } = needs(["envoy-ratelimit", "redis", "memcached"]);

/**
 * A campaign that ended well and left nothing; each result's counts agree by the test's own
 * arithmetic.
 */
async function measured(clients: string, flags: readonly string[] = []): Promise<Campaign> {
  const campaign = await validCampaign(newFolder(), clients, [...PROGRAM, ...SHORT, ...flags]);
  for (const result of campaign.measured) {
    expect(result.verdict.reasons.filter(({ rule }) => rule === "M12" || rule === "M15")).toEqual(
      [],
    );
    expectConsistent(result);
  }
  return campaign;
}

/** What service and stores counted, and what the consumers decided. */
function countsOf({ service, store, consumers, configuration }: Campaign["measured"][number]) {
  const consumes = consumers.map(({ at_start, at_end }) => {
    const [before, after] = [at_start.consumes, at_end.consumes];
    if (!before || !after) throw new Error("a consumer without counts");
    return {
      calls: after.calls - before.calls,
      decided: after.allowed + after.limited - before.allowed - before.limited,
    };
  });
  const ofStore = (store?.nodes ?? []).map(
    ({ at_start, at_end }) => (at_end.decisions ?? Number.NaN) - (at_start.decisions ?? Number.NaN),
  );
  return {
    text: configuration?.target.text,
    calls: consumes.reduce((total, { calls }) => total + calls, 0),
    consumers: consumes.reduce((total, { decided }) => total + decided, 0),
    service:
      (service?.at_end.decisions ?? Number.NaN) - (service?.at_start.decisions ?? Number.NaN),
    store: ofStore.reduce((total, count) => total + count, 0),
  };
}

describe("Envoy's rate limit service in campaigns", { tags, skip }, () => {
  test("without an HTTP server, on both stores, over gRPC and HTTP: consumers, service and store count the same", async () => {
    const flags = ["--layer", "limiter", ...TWO_KEYS];
    const campaign = await measured("envoy-grpc@redis,envoy-http@memcached", flags);
    expect(campaign.measured).toHaveLength(2);
    for (const result of campaign.measured) {
      const counts = countsOf(result);
      expect(counts.service, counts.text).toBe(counts.consumers);
      expect(counts.store, counts.text).toBe(counts.consumers);
      expect(counts.consumers).toBe(2 * counts.calls);
      expect(result.calls_per_request).toBe(1);
      expect(result.descriptors_per_call).toBe(2);
      expect(result.resources["service-1"]).toMatchObject({ kind: "service" });
      expect(result.resources["service-1"]?.cpu_us).toBeGreaterThan(0);
      expect(result.service).toMatchObject({
        id: "envoy-ratelimit",
        role: "service-1",
        settings: {},
      });
      expect(result.versions.limiter).toMatch(/^[0-9a-f.]{5,12}$/);
      expect(result.configuration?.target).toMatchObject({
        decided_by: "service",
        algorithm: "aligned window",
      });
    }
    expect(Object.keys(campaign.manifest.stores).sort()).toEqual([
      "envoy-ratelimit",
      "memcached",
      "redis",
    ]);
  });

  test("behind an HTTP server, options and the user's settings reach the service and the hash; a local cache spares the store, each primary of a cluster decides", async () => {
    const campaign = await measured(
      "envoy-http@redis+pipeline-75us,envoy-http@redis+local-cache,envoy-grpc@redis:cluster-3",
      [
        "--service-env",
        "envoy-ratelimit:REDIS_POOL_SIZE=5",
        "--service-env",
        "envoy-ratelimit:BACKOFF=a,b",
      ],
    );
    const expected = { REDIS_POOL_SIZE: "5", BACKOFF: "a,b" };
    const extra: Record<string, Record<string, string>> = {
      "pipeline-75us": { REDIS_PIPELINE_WINDOW: "75us" },
      "local-cache": { LOCAL_CACHE_SIZE_IN_BYTES: String(16 * 1024 ** 2) },
    };
    for (const result of campaign.measured) {
      const { options = [], topology } = result.configuration?.target ?? {};
      const [option = ""] = options;
      expect(result.service?.settings).toEqual({ ...extra[option], ...expected });
      expect(result.configuration?.service_env).toEqual(expected);
      const counts = countsOf(result);
      expect(counts.service).toBe(counts.consumers);
      expect(counts.consumers).toBe(counts.calls);
      expect(result.calls_per_request).toBe(1);
      if (option !== "local-cache") expect(counts.store).toBe(counts.consumers);
      else {
        expect(counts.store).toBeLessThan(counts.consumers);
        expect(result.verdict.not_applicable.map(({ rule }) => rule)).toContain("M8");
      }
      const deciding = result.store?.nodes.filter(({ at_end }) => (at_end.decisions ?? 0) > 0);
      expect(deciding).toHaveLength(topology === "standalone" ? 1 : 3);
    }
  });

  test.each([
    ["a program that is none", ["--program", "envoy-ratelimit=/bin/true"], "service-1"],
    ["no program", ["--program", "envoy-ratelimit=/no/such"], "/no/such"],
    [
      "a setting that the service cannot read",
      [...PROGRAM, "--service-env", "envoy-ratelimit:REDIS_POOL_SIZE=none"],
      "--service-env envoy-ratelimit:REDIS_POOL_SIZE=none",
    ],
  ])("%s is one clear line", async (_name, flags, line) => {
    const campaign = Campaign.run(newFolder(), "envoy-http@redis", flags);
    const { code, stderr } = await campaign.ended;
    expect([3, 4]).toContain(code);
    expect(stderr.split("\n").filter((candidate) => candidate.includes(line))).toHaveLength(1);
    expect(await campaign.leftovers()).toEqual([]);
  });

  test("a service or store that is killed or stopped in the window fails the run, and nothing hangs", async () => {
    const losses: (readonly [role: string, signal: NodeJS.Signals])[] = [
      ["service-1", "SIGKILL"],
      ["store-1", "SIGKILL"],
      ["store-1", "SIGSTOP"],
    ];
    const load = ["--runs", "3", "--duration-mode", "custom:4", "--rate", "100"];
    const campaign = Campaign.run(newFolder(), "envoy-grpc@redis", [...PROGRAM, ...load]);
    for (const [index, [role, signal]] of losses.entries()) {
      await campaign.waitForLog("  measure", index + 1);
      process.kill(await campaign.part(role), signal);
    }
    await campaign.ends(4);
    expect([...campaign.results.values()]).toMatchObject(
      losses.map(([role, signal]) => ({
        status: "failed",
        failure: { role: signal === "SIGKILL" ? role : "store" },
      })),
    );
  });
});
