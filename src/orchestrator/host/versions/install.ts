import { createHash } from "node:crypto";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { canonicalJson } from "../../../contract/configuration.js";
import { environmentError, messageOf } from "../../../contract/errors.js";
import {
  LOADER,
  type PackageVersion,
  type VersionFacts,
  versionFolderName,
} from "../../../contract/library-versions.js";
import { stopGroup } from "../../../runtimes/processes.js";
import { makeFolder } from "../../files/folders.js";
import { FACTS_FILE, temporaryPrefix } from "./folder.js";

const MANIFEST = { private: true, description: "A version that ratelimit-bench was asked to measure" };
/** Scripts of packages are code that nobody asked for; what they need from a registry has to be there already. */
const PARAMETERS = [
  ...["install", "--ignore-scripts", "--save-exact", "--omit=dev", "--no-bin-links", "--no-package-lock"],
  // Its usual three attempts leave a user without a network waiting for more than a minute.
  ...["--fetch-retries=1", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", "--json"],
];

/** What npm itself notes of all that it has laid below a folder. */
const TREE = join("node_modules", ".package-lock.json");
const treeSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string(), integrity: z.string().optional() })),
});
const failureSchema = z.object({ error: z.object({ code: z.string().optional(), summary: z.string() }) });

export interface Installing {
  signal: AbortSignal;
  /** Notes a helper process, so that the next start can end it should we die. */
  hold(pid: number): Promise<void>;
}

/**
 * Installs one version into a folder of its own below `cache`. It is there as a whole or not at all, whoever else
 * installs the same, and whatever ends this.
 * @throws environmentError when it cannot be fetched, with the mend
 */
export async function install(asked: PackageVersion, cache: string, installing: Installing): Promise<void> {
  let temporary: string;
  try {
    await makeFolder(cache);
    temporary = await mkdtemp(join(cache, await temporaryPrefix()));
  } catch (error) {
    throw environmentError(
      `${cache} cannot be written (${messageOf(error)}): set XDG_CACHE_HOME to one that can`,
      { cause: error },
    );
  }
  try {
    await writeFile(join(temporary, "package.json"), JSON.stringify(MANIFEST));
    await writeFile(join(temporary, LOADER.file), LOADER.text);
    await npm(asked, temporary, installing);
    await writeFile(join(temporary, FACTS_FILE), JSON.stringify(await factsOf(asked, temporary)));
    // It names the registry, which may be somebody's own.
    await rm(join(temporary, TREE), { force: true });
    await rename(temporary, join(cache, versionFolderName(asked))).catch(unlessThere);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Somebody else was faster: what is there is whole. */
function unlessThere(error: NodeJS.ErrnoException): void {
  if (!["ENOTEMPTY", "EEXIST"].includes(error.code ?? "")) throw error;
}

async function npm(
  { name, version }: PackageVersion,
  folder: string,
  { signal, hold }: Installing,
): Promise<void> {
  signal.throwIfAborted();
  const running = execa("npm", [...PARAMETERS, "--prefix", folder, `${name}@${version}`], {
    cwd: folder,
    stdin: "ignore",
    // Ctrl-C on the terminal is for the orchestrator, which ends it with all that it has started.
    detached: true,
    reject: false,
  });
  const { pid } = running;
  const stop = () => void (pid !== undefined && stopGroup(pid, running));
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (pid !== undefined) await hold(pid);
    const ended = await running;
    signal.throwIfAborted();
    if (ended.code === "ENOENT")
      throw environmentError("npm is missing: it installs versions; it comes with Node.js");
    if (ended.failed) throw environmentError(failureText({ name, version }, ended.stdout, ended.stderr));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function failureText({ name, version }: PackageVersion, stdout: string, stderr: string): string {
  const { code, summary } = failureOf(stdout) ?? {
    summary: stderr.trim().split("\n").at(-1) || "npm says nothing",
  };
  if (code === "ETARGET" || code === "E404") {
    return `the npm registry has no ${name} ${version}: npm view ${name} versions lists those that there are`;
  }
  const why = summary.replaceAll(/\s+/g, " ").slice(0, 300);
  return `${name} ${version} cannot be installed: ${why}; it is fetched once, so the registry that npm is set up for has to be reached`;
}

function failureOf(stdout: string): { code?: string | undefined; summary: string } | undefined {
  try {
    return failureSchema.parse(JSON.parse(stdout)).error;
  } catch {
    return undefined;
  }
}

/** @throws Error when npm has laid down something else */
async function factsOf(asked: PackageVersion, folder: string): Promise<VersionFacts> {
  const { packages } = treeSchema.parse(JSON.parse(await readFile(join(folder, TREE), "utf8")));
  const own = packages[`node_modules/${asked.name}`];
  if (own?.version !== asked.version) {
    throw environmentError(
      `npm installed ${asked.name} ${own?.version ?? "not at all"} instead of ${asked.version}`,
    );
  }
  const kept = Object.entries(packages).map(
    ([path, { version, integrity }]) =>
      [path.replace(/^node_modules\//, ""), { version, integrity }] as const,
  );
  return {
    ...asked,
    sha256: createHash("sha256")
      .update(canonicalJson(Object.fromEntries(kept)))
      .digest("hex"),
    packages: Object.fromEntries(kept.map(([path, { version }]) => [path, version])),
  };
}
