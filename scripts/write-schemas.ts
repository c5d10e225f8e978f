import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { eventSchema } from "../src/contract/events.js";
import { manifestSchema } from "../src/contract/manifest.js";
import { planSchema } from "../src/contract/plan.js";
import { resultSchema } from "../src/contract/result.js";
import { versionReportSchema } from "../src/contract/version-report.js";
import { campaignFileSchema } from "../src/orchestrator/request/config-schema.js";

/**
 * Writes the JSON Schemas: of the files that programs exchange, which Python validates against, and of campaign files,
 * for editors. `--check` compares instead and exits 1 on a difference.
 */
const folder = fileURLToPath(new URL("../src/contract/schemas/", import.meta.url));
const check = process.argv.includes("--check");
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries({
  plan: planSchema,
  manifest: manifestSchema,
  result: resultSchema,
  campaign: campaignFileSchema(),
  event: eventSchema,
  version: versionReportSchema,
})) {
  const path = `${folder}${name}.schema.json`;
  const text = `${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`;
  if (!check) {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${name}.schema.json differs from the sources: run "npm run schemas" and commit\n`);
    process.exitCode = 1;
  }
}
