import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { expectComplete } from "../../helpers/expectations.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { until } from "../../helpers/store.js";

const newFolder = temporaryFolders();

test("Ctrl-C after a run keeps it, with a report; --resume measures the rest [R-interrupt-3]", async () => {
  const home = newFolder();
  const campaign = Campaign.run(home, "iovalkey", ["--runs", "2", "--cooldown", "600"]);
  await until(() => campaign.results.size === 1);
  const { stdout } = await campaign.interrupted();
  expect(campaign.measured).toHaveLength(1);
  expect(campaign.manifest.status).toBe("aborted");
  const page = join(campaign.folder, "report", "index.html");
  expect(stdout).toContain(page);
  expect(readFileSync(page, "utf8")).toContain("</html>");

  const [kept = ""] = campaign.results.keys();
  const bytes = readFileSync(join(campaign.folder, kept));
  const resumed = Campaign.resume(home);
  const end = await resumed.ended;
  expect(end.code, end.stderr).toBe(0);
  expect(resumed.measured).toHaveLength(2);
  await expectComplete(resumed);
  expect(readFileSync(join(resumed.folder, kept))).toEqual(bytes);
});
