import { describe, expect, test } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { expectScheduleReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { measuredCampaign } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

const measured = (clients: string, flags: readonly string[]) =>
  measuredCampaign(newFolder(), clients, flags);
const idsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `generator-${index + 1}`);

describe("several generators", () => {
  test("of a closed loop: connections are divided, and every count adds up to the store's", async () => {
    const flags = "--generators 4 --concurrency 9 --warmup auto --duration-mode custom:2".split(
      " ",
    );
    const [result] = (await measured("iovalkey", flags)).measured;
    expect(result?.generators.map(({ id }) => id)).toEqual(idsOf(4));
    const connections = result?.generators.flatMap(({ workers }) =>
      workers.map((worker) => worker.connections),
    );
    expect(connections).toEqual([3, 2, 2, 2]);
    for (const id of idsOf(4)) expect(result?.resources[id]?.cpu_us).toBeGreaterThan(0);
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

  test("of an open loop keep its schedule together, and have one timeline around a fault", async () => {
    const campaign = Campaign.run(newFolder(), "iovalkey", [
      "--generators",
      "2",
      "--workers",
      "2",
      "--rate",
      "400",
      "--duration-mode",
      "custom:7",
      "--fault",
      "store-pause@3s+0.5s",
    ]);
    const { stderr } = await campaign.ended;
    const [result] = campaign.measured;
    if (!result?.timeline) throw new Error(`no result with a timeline: ${stderr}`);
    expectScheduleReconciled(result);
    expect(result.generators.map(({ schedule }) => schedule?.offered)).toEqual([1400, 1400]);
    const { allowed, limited, p99_us } = result.timeline;
    const answered = allowed.map((count, slice) => count + (limited[slice] ?? 0));
    expect(answered.reduce((total, count) => total + count, 0)).toBe(result.requests.total);
    // What was due when the pause began waited for its end.
    expect(Math.max(...p99_us.map((us) => us ?? 0))).toBeGreaterThan(400_000);
    expect(result.fault_figures).toBeDefined();
  });

  test("at the limiter layer are clients of their own", async () => {
    const flags = ["--layer", "limiter", "--generators", "2"];
    const [result] = (await measured("ioredis@valkey", flags)).measured;
    expect(result?.consumers.map(({ id }) => id)).toEqual(idsOf(2));
    expect(result?.calls_per_request).toBe(1);
    const requests = result?.consumers.map(
      ({ at_window_open, at_end }) => at_end.requests - at_window_open.requests,
    );
    expect(Math.min(...(requests ?? []))).toBeGreaterThan(0);
  });
});

test("one of several generators that is killed in the window makes a failed run that names it; the others end with it [R-generator-dies-3]", async () => {
  const flags = ["--generators", "3", "--duration-mode", "custom:30"];
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
  const { code, stderr } = await resumed.ended;
  // On a busy machine a generator may be late.
  expect([EXIT.done, EXIT.runsInvalid], stderr).toContain(code);
  expect(resumed.manifest.plan.generator_trials).toEqual(plan.generator_trials);
  expect(resumed.measured).toHaveLength(2);
});
