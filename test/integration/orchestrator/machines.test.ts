import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectConsistent, expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

/** The environment of a command line whose local runtime has machines, by kind of role. */
const placed = (placement: Readonly<Record<string, string>>) => ({
  PLACEMENT: JSON.stringify(placement),
  // An address: a space in a path would end the option.
  NODE_OPTIONS: `--import ${pathToFileURL(join(ROOT, "test/helpers/several-machines.mjs")).href}`,
});

describe("a campaign on several machines", () => {
  test("has their facts and links, and what each did in a run", async () => {
    const environment = placed({ generator: "left", server: "right", store: "right" });
    const campaign = Campaign.run(newFolder(), "iovalkey", ["--generators", "2"], environment);
    await campaign.endsBeforeReport();

    const { machines = [], sessions = [] } = campaign.manifest;
    expect(machines.map(({ name, shares_kernel_with }) => [name, shares_kernel_with])).toEqual([
      ["left", ["right"]],
      ["right", ["left"]],
    ]);
    expect(machines.map(({ facts: properties }) => properties?.kernel)).toEqual([
      campaign.manifest.machine.kernel,
      campaign.manifest.machine.kernel,
    ]);
    for (const { facts: properties } of machines) expect(properties?.index_ms).toBeGreaterThan(0);
    const [link, ...others] = sessions[0]?.links ?? [];
    if (!link) throw new Error("there is no link");
    expect(others).toEqual([]);
    expect(link.between).toEqual(["left", "right"]);
    expect(link.round_trip_us.p50).toBeLessThanOrEqual(link.round_trip_us.p90);

    const [result] = campaign.measured;
    if (!result) throw new Error("there is no result");
    expectConsistent(result);
    expectReconciled(result);
    const places = {
      "generator-1": "left",
      "generator-2": "left",
      "server-1": "right",
      "store-1": "right",
    };
    expect(result.placement).toEqual(places);
    expect(result.links).toEqual([link]);
    expect(result).not.toHaveProperty("host_load");
    // All roles of the computer are in it, whichever machine they are on.
    for (const load of Object.values(result.machine_load ?? {}))
      expect(load.busy_cpu_percent).toBeGreaterThanOrEqual(
        Object.values(result.resources).reduce((total, { cpu_percent }) => total + cpu_percent, 0) *
          0.8,
      );
    expect(Object.keys(result.machine_load ?? {})).toEqual(["left", "right"]);
  });

  test("interrupted while links are measured, leaves nothing", async () => {
    const environment = placed({ generator: "left", server: "right", store: "left" });
    const campaign = Campaign.run(newFolder(), "iovalkey", [], environment);
    await campaign.part("machine-probe-2");
    await campaign.interrupted();
  });
});
