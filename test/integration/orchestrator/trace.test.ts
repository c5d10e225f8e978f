import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { writeAccessLog } from "../../helpers/trace-logs.js";

const newFolder = temporaryFolders();

test("an access log is replayed as it came; results have its figures and no address", async () => {
  const log = join(newFolder(), "access.log");
  writeAccessLog(log, 20_000);
  const extent = ["--concurrency", "4", "--duration-mode", "requests:2000"];
  const campaign = Campaign.run(newFolder(), "iovalkey", ["--trace", log, ...extent]);
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
  expect(result?.prediction?.seen_share).toBe(0);
  const texts = readdirSync(campaign.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
  // The address of the second request.
  expect(texts.some((text) => text.includes("10.0.7.96"))).toBe(false);
});

test("each request keeps its time, with several workers too: a burst of one key stays one", async () => {
  const log = join(newFolder(), "burst.csv");
  // In 6 s, 50 requests of one key within 0.1 s, then 50 of others. Spread over the rest they would
  // all be admitted.
  const burst = Array.from({ length: 50 }, (_, n) => `${(1000 + n / 500).toFixed(3)},one`);
  const calm = Array.from(
    { length: 50 },
    (_, n) => `${(1000.1 + 0.117 * n).toFixed(3)},other-${n}`,
  );
  writeFileSync(log, [...burst, ...calm].join("\n"));
  const flags = [
    "--trace",
    log,
    "--trace-speed",
    "1",
    "--workers",
    "2",
    "--duration-mode",
    "custom:6",
    "--warmup",
    "3",
  ];
  const campaign = Campaign.run(newFolder(), "iovalkey", [
    ...flags,
    "--points",
    "10",
    "--window",
    "1",
  ]);
  await campaign.endsBeforeReport();
  const [result] = campaign.measured;
  expect(result).toBeDefined();
  expect(result?.prediction?.limited_share).toBeCloseTo(0.4, 1);
  expect(result?.prediction?.seen_share).toBeCloseTo(0.4, 1);
});
