import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { manifestSchema } from "./manifest.js";
import { planSchema } from "./plan.js";
import { resultSchema } from "./result.js";

/**
 * Writes the JSON Schemas that Python validates against; `--check` compares instead and exits 1 on a difference.
 */
const folder = fileURLToPath(new URL("./schemas/", import.meta.url));
const check = process.argv.includes("--check");
mkdirSync(folder, { recursive: true });
for (const [name, schema] of Object.entries({
  plan: planSchema,
  manifest: manifestSchema,
  result: resultSchema,
})) {
  const path = `${folder}${name}.schema.json`;
  const text = `${JSON.stringify(z.toJSONSchema(schema), null, 2)}\n`;
  if (!check) {
    writeFileSync(path, text);
  } else if (readFileSync(path, "utf8") !== text) {
    process.stderr.write(`${name}.schema.json differs from the contract: run "npm run schemas" and commit\n`);
    process.exitCode = 1;
  }
}
