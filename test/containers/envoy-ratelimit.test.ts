import { beforeAll, expect, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { added, docker, everything, inspected, running, tryDocker } from "../helpers/engine.js";
import { temporaryFolders } from "../helpers/folders.js";

const DOCKER = ["--runtime", "docker"];
const IMAGE = "envoyproxy/ratelimit:3fb70258";
const newFolder = temporaryFolders();

beforeAll(() => {
  docker("version");
});

/** Where the service is required, a missing image is a failure. */
function hasImage(): boolean {
  if (tryDocker("image", "inspect", "--format", "{{.Id}}", IMAGE).code === 0) return true;
  if (process.env.REQUIRE?.split(",").includes("envoy-ratelimit"))
    throw new Error(`there is no image ${IMAGE} (REQUIRE names envoy-ratelimit)`);
  return false;
}

test("Envoy's rate limit service in containers: caps, counters, its files, and nothing is left", async (context) => {
  if (!hasImage()) context.skip(`there is no image ${IMAGE}`);
  const before = everything();
  const flags = [
    ...DOCKER,
    "--duration-mode",
    "custom:2",
    "--service-cpus",
    "1",
    "--service-memory",
    "256m",
  ];
  const campaign = Campaign.run(newFolder(), "envoy-grpc@redis", flags);
  await campaign.waitForLog("measure");
  const service = running().get("service-1") ?? "";
  const { Config, HostConfig, Mounts } = inspected(service);
  expect(Config.User).toBe("1000:1000");
  expect(HostConfig).toMatchObject({
    ReadonlyRootfs: true,
    NanoCpus: 1e9,
    Memory: 256 * 1024 ** 2,
  });
  // Copies that only root can write, in a volume that goes with the container.
  expect(Mounts).toMatchObject([{ Type: "volume", Destination: "/files" }]);
  await campaign.ends();
  const [result] = campaign.measured;
  expect(result?.versions.limiter).toBe("3fb70258");
  expect(result?.verdict.reasons.filter(({ severity }) => severity === "invalid")).toEqual([]);
  const resources = result?.resources["service-1"];
  expect(resources).toMatchObject({
    kind: "service",
    caps: { cpus: 1, memory_bytes: 256 * 1024 ** 2 },
  });
  expect(resources?.cpu_us).toBeGreaterThan(0);
  expect(result?.service?.at_end.decisions).toBeGreaterThan(
    result?.service?.at_start.decisions ?? 0,
  );
  expect(campaign.manifest.images?.["envoy-ratelimit"]?.name).toBe(IMAGE);
  expect(added(before)).toEqual([]);
});

test("an image without the program is skipped with the remedy, before anything runs", async () => {
  const before = everything();
  const image = ["--image", "envoy-ratelimit=redis:8.0"];
  const campaign = Campaign.run(newFolder(), "envoy-grpc@redis", [...DOCKER, ...image]);
  const { code, stderr } = await campaign.ended;
  expect(code).toBe(2);
  expect(stderr).toContain("--image envoy-ratelimit=");
  expect(added(before)).toEqual([]);
});
