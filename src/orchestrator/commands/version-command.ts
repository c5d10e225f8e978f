import {
  type StoreVersion,
  VERSION_SCHEMA,
  VERSION_SCHEMA_VERSION,
  type VersionReport,
} from "../../contract/version-report.js";
import { definedOnly } from "../../kit/defined-only.js";
import { EXIT, messageOf } from "../../kit/errors.js";
import { embeddedVersion, findProgram } from "../../runtimes/local/local-programs.js";
import { findPythonEnvironment } from "../../runtimes/local/python-environment.js";
import { clients } from "../../targets/clients/index.js";
import { limiters } from "../../targets/limiters/index.js";
import { stores } from "../../targets/stores/index.js";
import { installedVersion } from "../campaign/write-manifest.js";
import { harnessVersion } from "../host/machine.js";
import { createCommand } from "../request/command-line.js";
import { SETTINGS } from "../request/settings.js";
import { type CliContext, parsedCommand } from "./command-types.js";

type Packages = VersionReport["clients"];

const definition = () =>
  createCommand("ratelimit-bench version")
    .description(
      "Shows the versions of clients, limiters, stores and the harness (also --version).",
    )
    .option("--json", "print one JSON document, see src/contract/schemas/version.schema.json");

/** Installed versions. A package that is missing has none and does not hide the others. */
function installed(things: readonly { id: string; package?: string }[]): Packages {
  const packages: Packages = {};
  for (const { id, package: name } of things) {
    if (name === undefined) continue;
    packages[id] = definedOnly({ package: name, version: installedVersion(name) });
  }
  return packages;
}

async function storeVersions({
  packageFolder,
  env,
}: CliContext): Promise<Record<string, StoreVersion>> {
  const versions: Record<string, StoreVersion> = {};
  // Without Python, the other versions are still shown.
  const { environment, refusal } = await findPythonEnvironment(packageFolder).then(
    (folder) => ({ environment: folder, refusal: undefined }),
    (error) => ({ environment: undefined, refusal: messageOf(error) }),
  );
  for (const { id, program, image, withoutVersionFlag } of stores) {
    if (program === undefined) continue;

    const variable = SETTINGS.find(({ key }) => key === program)?.variable;
    const path = (variable && env[variable]) || undefined;
    const source = definedOnly({ command: program, path, withoutVersionFlag });
    const programOrReason = await findProgram(source, async () => environment).catch(messageOf);
    const version = environment ? undefined : await embeddedVersion(packageFolder, program);
    const missing = version
      ? (refusal ?? `embedded with the first campaign (${version})`)
      : `no ${program} on PATH`;
    versions[id] = definedOnly({
      program: typeof programOrReason === "object" ? programOrReason : undefined,
      reason: typeof programOrReason === "object" ? undefined : (programOrReason ?? missing),
      image: image && (env[image.variable ?? ""] || image.name),
    });
  }
  return versions;
}

async function versionReport(context: CliContext): Promise<VersionReport> {
  return {
    schema: VERSION_SCHEMA,
    schema_version: VERSION_SCHEMA_VERSION,
    version: harnessVersion(context.packageFolder),
    node: process.versions.node,
    clients: installed(clients),
    limiters: installed(limiters.filter(({ onDemand }) => !onDemand)),
    stores: await storeVersions(context),
    load_generator: installed([{ id: "autocannon", package: "autocannon" }]),
    server: installed([{ id: "fastify", package: "fastify" }]),
  };
}

const packageLines = (packages: Packages): [string, string][] =>
  Object.entries(packages).map(([id, { version }]) => [id, version ?? "not installed"]);

const storeLines = (stores: VersionReport["stores"]): [string, string][] =>
  Object.entries(stores).map(([id, { program, reason = "", image }]) => {
    const local = program
      ? `${program.version} (${program.embedded ? "embedded" : program.path})`
      : reason;
    return [id, image ? `${local}; in containers ${image}` : local];
  });

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
      ...lines.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
    ]),
  ].join("\n");
}

export const version = parsedCommand("version", definition, async (command, context) => {
  const report = await versionReport(context);
  context.print(command.opts().json ? JSON.stringify(report, null, 2) : versionText(report));
  return EXIT.done;
});
