import { beforeAll, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectConsistent, expectReconciled } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";

beforeAll(build);
const newFolder = temporaryFolders();

test("counters are read while the generator waits, at both layers: all in time, and every count is exact", async () => {
  const flags = ["--layer", "server,limiter", "--workers", "2"];
  const campaign = Campaign.run(newFolder(), "iovalkey,valkey-glide", flags);
  await campaign.ended;
  expect(campaign.measured.map(({ configuration }) => configuration?.layer).sort()).toEqual([
    ...["limiter", "limiter"],
    ...["server", "server"],
  ]);
  for (const result of campaign.measured) {
    expect(result.readings).toEqual({ at_start: "in time", at_window_open: "in time", at_end: "in time" });
    expect(result.verdict.reasons.filter(({ rule }) => rule === "M8")).toEqual([]);
    expect(result.verdict.not_applicable.filter(({ rule }) => rule === "M8")).toEqual([]);
    expectConsistent(result);
    expectReconciled(result);
  }
});
