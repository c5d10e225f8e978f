import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditSchema } from "../../../src/contract/audit.js";
import { EXIT } from "../../../src/kit/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

test("ends with 6 when a promise is broken, prints its document, and writes the page", async () => {
  const home = newFolder();
  // Its settings come from a file as those of a campaign do.
  writeFileSync(join(home, "audit.yaml"), "runtime: local\n");
  const asked = "exact-burst-4-servers,ipv6-prefix";
  const clients = "ioredis@valkey+off-by-one memory none";
  const plugin = join(ROOT, "test/helpers/broken-limiters.plugin.mjs");
  const flags = [
    "--config",
    "audit.yaml",
    "--clients",
    clients,
    "--checks",
    asked,
    "--plugin",
    plugin,
  ];
  // From Node.js 24 on requests to loopback would go to this proxy, which nobody answers.
  const proxy = {
    NODE_USE_ENV_PROXY: "1",
    HTTP_PROXY: "http://127.0.0.1:1",
    HTTPS_PROXY: "http://127.0.0.1:1",
  };
  const started = Campaign.command(home, ["audit", ...flags, "--format", "json"], proxy);
  const { stdout } = await started.ends(EXIT.regression);
  const document = auditSchema.parse(JSON.parse(stdout));
  // As a shell takes it.
  expect(document.command).toContain(
    `audit --config audit.yaml --clients '${clients}' --checks ${asked}`,
  );
  expect(document.skips.map(({ asked }) => asked)).toEqual(["none"]);
  const [offByOne, memory] = document.targets.map(({ findings }) =>
    findings.map(({ check, status }) => [check, status]),
  );
  expect(offByOne).toEqual([
    ["exact-burst-4-servers", "broken"],
    ["ipv6-prefix", "skipped"],
  ]);
  // Each of four servers counts for itself, and nobody promises else.
  expect(memory).toEqual([
    ["exact-burst-4-servers", "not-promised"],
    ["ipv6-prefix", "skipped"],
  ]);
  expect(document.targets[1]?.findings[0]?.seen).toContain("80");
  expect(document.counts).toMatchObject({ holds: 0, broken: 1, consequences: 0, not_promised: 1 });
  const folder = join(home, "results/audits", document.audit);
  expect(readdirSync(folder).sort()).toEqual(["audit.json", "audit.log", "audit.md", "index.html"]);
  expect(JSON.parse(readFileSync(join(folder, "audit.json"), "utf8"))).toEqual(document);
  expect(await started.runningProcesses()).toEqual([]);
});
