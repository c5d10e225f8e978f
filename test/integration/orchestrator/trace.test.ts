import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { build } from "../../helpers/programs.js";
import { writeAccessLog } from "../../helpers/trace-logs.js";

beforeAll(build);
const newFolder = temporaryFolders();

test("an access log is replayed as it came and at its times; results have its figures and no address", async () => {
  const output = newFolder();
  const log = join(newFolder(), "access.log");
  writeAccessLog(log, 20_000);
  for (const flags of [
    ["--concurrency", "4"],
    ["--trace-speed", "1", "--workers", "2"],
  ]) {
    const folder = join(output, flags[0] ?? "");
    mkdirSync(folder);
    const campaign = Campaign.run(folder, "iovalkey", ["--trace", log, ...flags]);
    const { stderr } = await campaign.ended;
    const [result] = campaign.measured;
    expect(result, stderr).toBeDefined();
    expect(result?.configuration?.traffic).toBe("trace");
    expect(result?.plugins?.[0]?.trace).toMatchObject({
      lines: 20_000,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(result?.counts.failed_answers).toBe(0);
    expect(result?.counts.allowed).toBeGreaterThan(0);
    const { limited_share = 0, seen_share = 1 } = result?.prediction ?? {};
    expect(seen_share).toBeCloseTo(limited_share, 1);
    expect(seen_share > 0).toBe(flags.includes("--points"));
    const texts = readdirSync(campaign.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
    // The address of the second request.
    expect(texts.some((text) => text.includes("10.0.7.96"))).toBe(false);
  }
});
