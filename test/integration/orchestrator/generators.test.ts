import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { measuredResults } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

const measured = (clients: string, flags: readonly string[]) =>
  measuredResults(newFolder(), clients, flags);
const idsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `generator-${index + 1}`);

describe("several generators", () => {
  test("of a closed loop: connections are divided, and every count adds up to the store's", async () => {
    const flags = "--generators 3 --concurrency 7 --warmup auto --duration-mode custom:2".split(
      " ",
    );
    const [result] = await measured("iovalkey", flags);
    expect(result?.generators.map(({ id }) => id)).toEqual(idsOf(3));
    const connections = result?.generators.flatMap(({ workers }) =>
      workers.map((worker) => worker.connections),
    );
    expect(connections).toEqual([3, 2, 2]);
    for (const id of idsOf(3)) expect(result?.resources[id]?.cpu_us).toBeGreaterThan(0);
    // The first one alone reads the server, and the whole load is in its counters.
    expect(result?.consumers.map(({ id }) => id)).toEqual(["server-1"]);
    const { admissions } = result ?? {};
    if (admissions?.status !== "counted") throw new Error(admissions?.reason);
    const { counted: points } = admissions.points;
    expect(admissions).toMatchObject({
      below: 0,
      above: 0,
      points: { least: points, most: points },
    });
    expect(result?.warmup.steady).toBeDefined();
    expect(result?.prediction?.limited_share).toBe(0.1);
    // On a busy machine a reading may come too late for its second.
    const seen =
      result?.samples.map(({ server_resident_bytes }) => server_resident_bytes ?? 0) ?? [];
    expect(Math.max(...seen)).toBeGreaterThan(0);
  });

  test("at the limiter layer are clients of their own", async () => {
    const extent = ["--duration-mode", "requests:2000"];
    const flags = ["--layer", "limiter", "--generators", "2", ...extent];
    const [result] = await measured("ioredis@valkey", flags);
    expect(result?.consumers.map(({ id }) => id)).toEqual(idsOf(2));
    expect(result?.calls_per_request).toBe(1);
    const requests = result?.consumers.map(
      ({ at_window_open, at_end }) => at_end.requests - at_window_open.requests,
    );
    expect(Math.min(...(requests ?? []))).toBeGreaterThan(0);
  });
});

test("one of two generators that is killed in the window makes a failed run that names it; the other ends with it [R-generator-dies-3]", async () => {
  const flags = ["--generators", "2", "--rate", "50", "--duration-mode", "custom:30"];
  const campaign = Campaign.run(newFolder(), "none", flags);
  await campaign.waitForLog("measure");
  process.kill(await campaign.part("generator-2"), "SIGKILL");
  await campaign.ends(EXIT.configurationFailed);
  const [result] = campaign.results.values();
  expect(result).toMatchObject({
    status: "failed",
    failure: { role: "generator-2", text: "ended with SIGKILL" },
  });
});

test("`auto` finds one number for all before the first run; it is kept and not found again", async () => {
  const home = newFolder();
  // So few requests are no load for one generator.
  const campaign = Campaign.run(home, "memory", ["--generators", "auto", "--rate", "20,40"]);
  await campaign.waitForLog("measure");
  await campaign.interrupted();
  const { plan, settings } = campaign.manifest;
  expect(plan.generator_trials).toMatchObject({
    generators: 1,
    measured: [{ generators: 1, is_saturated: false }],
  });
  expect(settings?.generators).toBe("1");
  const resumed = Campaign.resume(home);
  await resumed.waitForLog("measure", 2);
  await resumed.interrupted();
  expect(resumed.manifest.plan.generator_trials).toEqual(plan.generator_trials);
});
