import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { auditSchema } from "../src/contract/audit.js";
import { dimensions } from "../src/contract/dimensions.js";
import { eventSchema } from "../src/contract/events.js";
import { faultActionIds, propertiesOfAction } from "../src/contract/fault-actions.js";
import { isProgramLayer, layers } from "../src/contract/layers.js";
import { manifestSchema } from "../src/contract/manifest.js";
import { namedFaults } from "../src/contract/named-faults.js";
import { planSchema } from "../src/contract/plan.js";
import { reportCommands } from "../src/contract/report-commands.js";
import { resultSchema } from "../src/contract/result.js";
import { measuredKinds } from "../src/contract/role.js";
import { algorithms, deciders } from "../src/contract/target.js";
import { verdictsSchema } from "../src/contract/verdicts.js";
import { versionReportSchema } from "../src/contract/version-report.js";
import { definedOnly } from "../src/kit/defined-only.js";
import { checks } from "../src/orchestrator/audit/checks/index.js";
import { campaignFileSchema } from "../src/orchestrator/request/config-file.js";
import { campaignHelp, topics } from "../src/orchestrator/request/flag-help.js";
import { singleCommand } from "../src/orchestrator/request/original.js";
import { separating } from "../src/targets/options.js";
import { stores } from "../src/targets/stores/index.js";
import { groups } from "../src/targets/target-groups.js";
import { flagsText, singleVariablesText } from "./flags-page.js";
import { formattedPython } from "./format-python.js";
import { biomeImports, importsText, pythonLayers } from "./imports.js";
import { limitersPage } from "./limiters-page.js";
import { recordsModule } from "./records-module.js";
import { reportFixtures } from "./report-fixtures.js";
import { sharedConstants } from "./shared-constants.js";

/**
 * Writes what is generated and committed:
 * - JSON Schemas of the files that programs exchange, and of campaign files, for editors;
 * - report/results/generated/records.py, from those that the report reads;
 * - what the report shares: constants, the controls, the kinds of roles, deciders, algorithms, the
 *   layers, the dimensions, the options that separate rankings, the checks of the audit that nobody
 *   promises;
 * - test/report/fixtures.json: targets and documents for the report's tests;
 * - scripts/help/: what the scripts print for --help before anything is installed;
 * - docs/limiters.md, from what `npm run facts` found;
 * - the flags in docs/flags.md and the variables in docs/environment-variables.md, from the list of
 *   settings;
 * - the rules for imports, from imports.json: Biome's, those of pyproject.toml, and the lists in
 *   docs/architecture.md.
 * `--check` compares instead and exits 1 on a difference.
 */
const root = fileURLToPath(new URL("..", import.meta.url));

/** Texts of generated files, by their path from the root. */
type Files = Record<string, string>;

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

const RECORDS = "report/results/generated/records.py";

function schemaFiles(): Files {
  const files: Files = {};
  for (const [name, schema] of Object.entries(schemas)) {
    files[`src/contract/schemas/${name}.schema.json`] = json(jsonSchemaOf(schema));
  }
  return files;
}

const jsonSchemaOf = (schema: z.ZodType) => z.toJSONSchema(schema, { reused: "ref" });

function records(): string {
  const text = recordsModule({
    result: jsonSchemaOf(resultSchema),
    manifest: jsonSchemaOf(manifestSchema),
    audit: jsonSchemaOf(auditSchema),
    verdicts: jsonSchemaOf(verdictsSchema),
  });
  return formattedPython(RECORDS, text);
}

/** What the report and the programs share, one file a topic. */
function sharedFiles(): Files {
  const topics = {
    constants: sharedConstants,
    "report-commands": reportCommands,
    controls: groups.controls,
    separations: separations(),
    "measured-kinds": measuredKinds,
    deciders,
    algorithms,
    unpromised: unpromisedChecks(),
    faults: {
      named: Object.fromEntries(namedFaults.map(({ id, happens }) => [id, happens])),
      verbs: Object.fromEntries(faultActionIds.map((id) => [id, propertiesOfAction(id).verb])),
    },
    layers: layers
      .filter(({ id }) => !isProgramLayer(id))
      .map(({ id, request, consumer }) => ({ layer: id, request, consumer })),
    dimensions: dimensions.map(({ key, one, other, layers }) => ({ key, one, other, layers })),
  };

  const files: Files = {};
  for (const [name, topic] of Object.entries(topics)) {
    files[`src/contract/generated/${name}.json`] = json(topic);
  }
  return files;
}

const separations = () =>
  separating.map(({ id, pattern, separates }) => ({
    option: id,
    ...definedOnly({ pattern: pattern?.source }),
    ...separates,
  }));

/** Why nobody promises what a check tries, by check and store. */
function unpromisedChecks(): Record<string, Record<string, string>> {
  const reasonsByCheck: Record<string, Record<string, string>> = {};
  for (const { id, unpromisedReason } of checks) {
    const reasons: Record<string, string> = {};
    for (const store of stores) {
      const reason = unpromisedReason?.({ store: store.id });
      if (reason !== undefined) reasons[store.id] = reason;
    }
    if (Object.keys(reasons).length > 0) reasonsByCheck[id] = reasons;
  }
  return reasonsByCheck;
}

/** What scripts print for --help. */
function helpFiles(): Files {
  const files: Files = {
    "scripts/help/run.txt": helpOf(),
    "scripts/help/single.txt": singleCommand().name("./scripts/run-benchmark.sh").helpInformation(),
  };
  for (const topic of topics) files[`scripts/help/${topic}.txt`] = helpOf(topic);
  return files;
}

const helpOf = (topic?: string): string =>
  campaignHelp("./scripts/run-all.sh", "./scripts/run-all.sh help", topic);

/** Files of which only a part is generated. */
function partlyGeneratedFiles(): Files {
  return {
    "pyproject.toml": tomlWith("pyproject.toml", "imports", pythonLayers()),
    "docs/architecture.md": pageWith("docs/architecture.md", "imports", importsText()),
    "docs/flags.md": pageWith("docs/flags.md", "flags", flagsText()),
    "docs/environment-variables.md": pageWith(
      "docs/environment-variables.md",
      "variables",
      singleVariablesText(),
    ),
  };
}

/** A file of Python's tools with the part between `# name` and `# /name` replaced. */
function tomlWith(path: string, name: string, text: string): string {
  const section = new RegExp(`(?<=^# ${name}\n).*?(?=^# /${name}$)`, "ms");
  return read(path).replace(section, () => text);
}

/** A page with the part between `<!-- name -->` and `<!-- /name -->` replaced. */
function pageWith(path: string, name: string, text: string): string {
  const section = new RegExp(`(?<=<!-- ${name} -->\n).*?(?=<!-- /${name} -->)`, "s");
  return read(path).replace(section, () => `\n${text}\n`);
}

const limiterBehaviours = (): string => read("test/fixtures/limiter-facts.json") || "[]";

const generated: Files = {
  ...schemaFiles(),
  [RECORDS]: records(),
  ...sharedFiles(),
  "test/report/fixtures.json": json(reportFixtures()),
  ...helpFiles(),
  "biome.imports.json": json(biomeImports()),
  "docs/limiters.md": limitersPage(JSON.parse(limiterBehaviours())),
  ...partlyGeneratedFiles(),
};

const isCheck = process.argv.includes("--check");
for (const [path, text] of Object.entries(generated)) {
  if (!isCheck) {
    writeFileSync(`${root}${path}`, text);
  } else if (read(path) !== text) {
    process.stderr.write(`${path} differs from its sources: run "npm run generate" and commit\n`);
    process.exitCode = 1;
  }
}
