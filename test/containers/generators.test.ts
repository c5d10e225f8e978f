import { expect, test } from "vitest";
import { added, everything } from "../helpers/engine.js";
import { temporaryFolders } from "../helpers/folders.js";
import { measuredCampaign } from "../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

test("two generators in containers of their own: every count is exact, and each has its own figures", async () => {
  const before = everything();
  const { measured } = await measuredCampaign(newFolder(), "iovalkey", [
    "--runtime",
    "docker",
    "--generators",
    "2",
    "--concurrency",
    "9",
  ]);
  expect(added(before)).toEqual([]);
  const [result] = measured;
  if (result?.admissions?.status !== "counted") throw new Error("no admissions");
  const { below, above, points } = result.admissions;
  expect([below, above, points.least, points.most]).toEqual([0, 0, points.counted, points.counted]);
  expect(result.generators.map(({ id }) => id)).toEqual(["generator-1", "generator-2"]);
  const connections = result.generators.flatMap(({ workers }) =>
    workers.map((worker) => worker.connections),
  );
  expect(connections).toEqual([5, 4]);
  for (const { id, histograms } of result.generators) {
    expect(histograms.allowed.count, id).toBeGreaterThan(0);
    expect(result.resources[id]?.cpu_us, id).toBeGreaterThan(0);
    expect(result.resources[id]?.network?.sent_bytes, id).toBeGreaterThan(0);
  }
});
