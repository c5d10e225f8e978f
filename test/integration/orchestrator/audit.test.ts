import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { auditSchema } from "../../../src/contract/audit.js";
import { EXIT } from "../../../src/contract/errors.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

test("ends with 6 when a promise is broken, prints its document, and writes the page", async () => {
  const home = newFolder();
  // Its settings come from a file as those of a campaign do.
  writeFileSync(join(home, "audit.yaml"), "runtime: local\n");
  const asked = "exact-burst,exact-burst-4-servers,expiry";
  const flags = ["--config", "audit.yaml", "--clients", "memory none", "--checks", asked];
  // From Node.js 24 on requests to loopback would go to this proxy, which nobody answers.
  const proxy = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: "http://127.0.0.1:1", HTTPS_PROXY: "http://127.0.0.1:1" };
  const started = Campaign.command(home, ["audit", ...flags, "--format", "json"], proxy);
  const { stdout } = await started.ends(EXIT.regression);
  const document = auditSchema.parse(JSON.parse(stdout));
  // As a shell takes it.
  expect(document.command).toContain(`audit --config audit.yaml --clients 'memory none' --checks ${asked}`);
  expect(document.skips.map(({ asked }) => asked)).toEqual(["none"]);
  const [memory] = document.targets;
  // Each of four servers counts for itself.
  expect(memory?.findings.map(({ check, status }) => [check, status])).toEqual([
    ["exact-burst", "holds"],
    ["exact-burst-4-servers", "broken"],
    ["expiry", "skipped"],
  ]);
  expect(memory?.findings[1]?.seen).toContain("80");
  const folder = join(home, "results/audits", document.audit);
  expect(readdirSync(folder).sort()).toEqual(["audit.json", "audit.log", "audit.md", "index.html"]);
  expect(JSON.parse(readFileSync(join(folder, "audit.json"), "utf8"))).toEqual(document);
  expect(await started.runningProcesses()).toEqual([]);
});
