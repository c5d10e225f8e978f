import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { auditSchema } from "../src/contract/audit.js";
import { dimensions } from "../src/contract/dimensions.js";
import { eventSchema } from "../src/contract/events.js";
import { factsOfAction, faultActionIds, namedFaults } from "../src/contract/faults.js";
import { isProgramLayer, layers } from "../src/contract/layers.js";
import { manifestSchema } from "../src/contract/manifest.js";
import { planSchema } from "../src/contract/plan.js";
import { reportCommands } from "../src/contract/report-commands.js";
import { resultSchema } from "../src/contract/result.js";
import { measuredKinds } from "../src/contract/role.js";
import { algorithms, deciders } from "../src/contract/target.js";
import { verdictsSchema } from "../src/contract/verdicts.js";
import { versionReportSchema } from "../src/contract/version-report.js";
import { checks } from "../src/orchestrator/audit/checks/index.js";
import { campaignFileSchema } from "../src/orchestrator/request/config-file.js";
import { campaignHelp, topics } from "../src/orchestrator/request/flag-help.js";
import { singleCommand } from "../src/orchestrator/request/original.js";
import { separating } from "../src/targets/options.js";
import { stores } from "../src/targets/stores/index.js";
import { groups } from "../src/targets/target-groups.js";
import { flagsText, singleVariablesText } from "./flags-page.js";
import { biomeImports, importsText, pythonLayers } from "./imports.js";
import { limitersPage } from "./limiters-page.js";
import { recordsModule } from "./records-module.js";
import { reportFixtures } from "./report-fixtures.js";
import { sharedConstants } from "./shared-constants.js";

/**
 * Writes what is generated and committed:
 * - JSON Schemas of the files that programs exchange, and of campaign files, for editors;
 * - report/results/generated/records.py, from those that the report reads;
 * - what the report shares: constants, the controls, the kinds of roles, deciders, algorithms, the layers, the
 *   dimensions, the options that separate rankings, the checks of the audit that nobody promises;
 * - test/report/fixtures.json: targets and documents for the report's tests;
 * - scripts/help/: what the scripts print for --help before anything is installed;
 * - docs/limiters.md, from the facts that `npm run facts` found;
 * - the flags in docs/flags.md and the variables in docs/environment-variables.md, from the list of settings;
 * - the rules for imports, from imports.json: Biome's, those of pyproject.toml, and the lists in docs/architecture.md.
 * `--check` compares instead and exits 1 on a difference.
 */
const root = fileURLToPath(new URL("..", import.meta.url));
const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
/** @param path from the root; a file that is missing is empty */
const read = (path: string): string =>
  existsSync(`${root}${path}`) ? readFileSync(`${root}${path}`, "utf8") : "";

const schemas = {
  plan: planSchema,
  manifest: manifestSchema,
  result: resultSchema,
  campaign: campaignFileSchema(),
  event: eventSchema,
  version: versionReportSchema,
  audit: auditSchema,
  verdicts: verdictsSchema,
};
const helpOf = (topic?: string): string =>
  campaignHelp("./scripts/run-all.sh", "./scripts/run-all.sh help", topic);

/** Why nobody promises what a check tries, by check and store. */
const unpromised = Object.fromEntries(
  checks.flatMap(({ id, unpromisedReason }) => {
    const reasons = stores.flatMap((store): [string, string][] => {
      const reason = unpromisedReason?.({ store: store.id });
      return reason === undefined ? [] : [[store.id, reason]];
    });
    return reasons.length > 0 ? [[id, Object.fromEntries(reasons)]] : [];
  }),
);

/** A file of Python's tools with the part between `# name` and `# /name` replaced. */
const tomlWith = (path: string, name: string, text: string): string =>
  read(path).replace(new RegExp(`(?<=^# ${name}\n).*?(?=^# /${name}$)`, "ms"), () => text);

/** A page with the part between `<!-- name -->` and `<!-- /name -->` replaced. */
const pageWith = (path: string, name: string, text: string): string =>
  read(path).replace(
    new RegExp(`(?<=<!-- ${name} -->\n).*?(?=<!-- /${name} -->)`, "s"),
    () => `\n${text}\n`,
  );

const jsonSchemas = Object.fromEntries(
  Object.entries(schemas).map(([name, schema]) => [
    name,
    z.toJSONSchema(schema, { reused: "ref" }),
  ]),
);

const generated: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(jsonSchemas).map(([name, schema]) => [
      `src/contract/schemas/${name}.schema.json`,
      json(schema),
    ]),
  ),
  "report/results/generated/records.py": recordsModule({
    result: jsonSchemas.result ?? {},
    manifest: jsonSchemas.manifest ?? {},
    audit: jsonSchemas.audit ?? {},
    verdicts: jsonSchemas.verdicts ?? {},
  }),
  "src/contract/generated/constants.json": json(sharedConstants),
  "src/contract/generated/report-commands.json": json(reportCommands),
  "test/report/fixtures.json": json(reportFixtures()),
  "src/contract/generated/controls.json": json(groups.controls),
  "src/contract/generated/separations.json": json(
    separating.map(({ id, pattern, separates }) => ({
      option: id,
      ...(pattern ? { pattern: pattern.source } : {}),
      ...separates,
    })),
  ),
  "src/contract/generated/measured-kinds.json": json(measuredKinds),
  "src/contract/generated/deciders.json": json(deciders),
  "src/contract/generated/algorithms.json": json(algorithms),
  "src/contract/generated/unpromised.json": json(unpromised),
  "src/contract/generated/faults.json": json({
    named: Object.fromEntries(namedFaults.map(({ id, happens }) => [id, happens])),
    verbs: Object.fromEntries(faultActionIds.map((id) => [id, factsOfAction(id).verb])),
  }),
  "src/contract/generated/layers.json": json(
    layers
      .filter(({ id }) => !isProgramLayer(id))
      .map(({ id, request, consumer }) => ({ layer: id, request, consumer })),
  ),
  "src/contract/generated/dimensions.json": json(
    dimensions.map(({ key, one, other, layers }) => ({ key, one, other, layers })),
  ),
  "scripts/help/run.txt": helpOf(),
  "scripts/help/single.txt": singleCommand().name("./scripts/run-benchmark.sh").helpInformation(),
  ...Object.fromEntries(topics.map((topic) => [`scripts/help/${topic}.txt`, helpOf(topic)])),
  "biome.imports.json": json(biomeImports()),
  "pyproject.toml": tomlWith("pyproject.toml", "imports", pythonLayers()),
  "docs/limiters.md": limitersPage(JSON.parse(read("test/fixtures/limiter-facts.json") || "[]")),
  "docs/architecture.md": pageWith("docs/architecture.md", "imports", importsText()),
  "docs/flags.md": pageWith("docs/flags.md", "flags", flagsText()),
  "docs/environment-variables.md": pageWith(
    "docs/environment-variables.md",
    "variables",
    singleVariablesText(),
  ),
};

for (const [path, text] of Object.entries(generated)) {
  if (!process.argv.includes("--check")) {
    writeFileSync(`${root}${path}`, text);
  } else if (read(path) !== text) {
    process.stderr.write(`${path} differs from its sources: run "npm run generate" and commit\n`);
    process.exitCode = 1;
  }
}
