import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { canonicalJson } from "../../contract/configuration.js";
import { isProgramLayer } from "../../contract/layers.js";
import {
  type InstalledVersion,
  installedVersionSchema,
  LOADER,
  type PackageVersion,
  versionFolderName,
  versionsFolder,
} from "../../contract/library-versions.js";
import type { Plan } from "../../contract/plan.js";
import type { Target } from "../../contract/target.js";
import { parseAnswer } from "../../kit/answers.js";
import { environmentError, lastLine, messageOf } from "../../kit/errors.js";
import { untilEnded } from "../../runtimes/processes.js";
import type { InstalledVersions, Leftover } from "../../runtimes/runtime-types.js";
import { findClient, findFramework, findLimiter } from "../../targets/resolve.js";
import { makeFolder, parseJson } from "../files/own-files.js";
import { isAlive, thisOwner } from "../ownership/state-folder.js";

interface InstallOptions {
  signal: AbortSignal;
  /** Records a helper process, so that the next start can end it if this process dies. */
  holdProcess(pid: number): Promise<void>;
}

export const requestedVersions = ({
  configurations,
}: Pick<Plan, "configurations">): PackageVersion[] =>
  versionsOfTargets(
    configurations.flatMap(({ configuration: { target, layer } }) =>
      // A load program of the store layer is no package.
      isProgramLayer(layer) ? [] : [target],
    ),
  );

export function versionsOfTargets(targets: readonly Target[]): PackageVersion[] {
  const versions = new Map<string, PackageVersion>();
  for (const target of targets) {
    const limiter = findLimiter(target.limiter);
    const packages = [
      packageVersion(findClient(target.client).package, target.client_version),
      packageVersion(limiter.package, target.limiter_version),
      target.limiter_version ? undefined : limiter.onDemand,
      target.framework ? findFramework(target.framework).package : undefined,
    ];
    for (const version of packages) {
      if (version) versions.set(`${version.name}@${version.version}`, version);
    }
  }
  return [...versions.values()];
}

const packageVersion = (
  name: string | undefined,
  version: string | undefined,
): PackageVersion | undefined => (name && version ? { name, version } : undefined);

export async function installationNotes(requested: readonly PackageVersion[]): Promise<string[]> {
  if (requested.length === 0) return [];
  const cache = versionsFolder(process.env);
  const notes: string[] = [];
  for (const { name, version } of requested) {
    if (!(await readInstalled({ name, version }, cache)))
      notes.push(`${name} ${version} is not installed yet: it is installed into ${cache} first`);
  }
  return notes;
}

/** Installs the versions that are missing. @returns where all are @throws environmentError */
export async function ensureVersions(
  requested: readonly PackageVersion[],
  options: InstallOptions & { onSetupStep(text: string): void },
): Promise<InstalledVersions | undefined> {
  if (requested.length === 0) return undefined;
  const cache = versionsFolder(process.env);
  const versions: InstalledVersion[] = [];
  for (const version of requested) {
    let installed = await readInstalled(version, cache);
    if (!installed) {
      options.onSetupStep(`installing ${version.name} ${version.version}: once, it is kept`);
      await install(version, cache, options);
      installed = await readInstalled(version, cache);
    }
    if (!installed)
      throw new Error(`${version.name} ${version.version} disappeared after its installation`);
    versions.push(installed);
  }
  return { folder: cache, installed: versions };
}

/** The file that identifies a version, which is written last into its folder. */
const INSTALLED_FILE = "installed.json";

/** The version that is installed in its folder; undefined without one. @throws environmentError for damage */
async function readInstalled(
  requested: PackageVersion,
  cache: string,
): Promise<InstalledVersion | undefined> {
  const folder = join(cache, versionFolderName(requested));
  try {
    const installed = installedVersionSchema.parse(
      JSON.parse(await readFile(join(folder, INSTALLED_FILE), "utf8")),
    );
    if (installed.name === requested.name && installed.version === requested.version)
      return installed;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" && !existsSync(folder)) return undefined;
  }
  throw environmentError(`${folder} is damaged: remove it, and it is installed again`);
}

const TEMPORARY_FOLDER = /^\.installing-(?<pid>\d+)-(?<started>[^-]*)-/;

/** The start of the names of this process's unfinished installations. */
async function temporaryPrefix(): Promise<string> {
  const { pid, started } = await thisOwner("");
  return `.installing-${pid}-${encodeURIComponent(started).replaceAll("-", "%2D")}-`;
}

/** The folders of installations whose process was killed. */
export async function unfinishedInstallations(): Promise<Leftover[]> {
  const unfinished: Leftover[] = [];
  let cache: string;
  try {
    cache = versionsFolder(process.env);
  } catch {
    // A user without a home has installed nothing.
    return [];
  }
  for (const name of await readdir(cache).catch(() => [])) {
    const { pid, started } = TEMPORARY_FOLDER.exec(name)?.groups ?? {};
    if (pid === undefined || started === undefined) continue;
    if (await isAlive({ pid: Number(pid), started: decodeURIComponent(started) })) continue;
    const path = join(cache, name);
    unfinished.push({
      what: `the unfinished installation ${path}`,
      remove: () => rm(path, { recursive: true, force: true }),
    });
  }
  return unfinished;
}

/**
 * Installs a version, whose folder appears complete or not at all, even if another process installs
 * the same.
 * @throws environmentError
 */
async function install(
  requested: PackageVersion,
  cache: string,
  options: InstallOptions,
): Promise<void> {
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
    await writeFile(join(temporary, "package.json"), JSON.stringify(PACKAGE_JSON));
    await writeFile(join(temporary, LOADER.file), LOADER.text);
    await npmInstall(requested, temporary, options);
    await writeFile(
      join(temporary, INSTALLED_FILE),
      JSON.stringify(await installedVersionIn(requested, temporary)),
    );
    // This file names the registry, which may be private.
    await rm(join(temporary, INSTALLED_TREE), { force: true });
    await rename(temporary, join(cache, versionFolderName(requested))).catch(ignoreExisting);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Ignores that another process was faster, because its installation is complete. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (!["ENOTEMPTY", "EEXIST"].includes(error.code ?? "")) throw error;
}

const PACKAGE_JSON = {
  private: true,
  description: "A version that ratelimit-bench was asked to measure",
};
/**
 * The arguments of npm. Install scripts are off, because nobody requested their code, so that what a
 * package needs must come from the registry.
 */
const NPM_ARGUMENTS = [
  "install",
  "--ignore-scripts",
  "--save-exact",
  "--omit=dev",
  "--no-bin-links",
  "--no-package-lock",
  // The user's settings must not install elsewhere, or less.
  "--no-global",
  "--location=project",
  "--no-dry-run",
  "--no-package-lock-only",
  "--include=optional",
  "--include=peer",
  // By default npm retries for more than a minute before it reports that there is no network.
  "--fetch-retries=1",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=error",
  "--json",
];

async function npmInstall(
  { name, version, with: companions = [] }: PackageVersion,
  folder: string,
  { signal, holdProcess }: InstallOptions,
): Promise<void> {
  signal.throwIfAborted();
  const running = execa(
    "npm",
    [...NPM_ARGUMENTS, "--prefix", folder, `${name}@${version}`, ...companions],
    {
      cwd: folder,
      stdin: "ignore",
      // Ctrl-C reaches only the orchestrator, which stops npm with everything that it started.
      detached: true,
      reject: false,
    },
  );
  await untilEnded(running, signal, holdProcess);
  signal.throwIfAborted();

  const { code, failed, stdout, stderr } = await running;
  if (code === "ENOENT")
    throw environmentError("npm is missing: it installs versions; it comes with Node.js");
  if (failed) throw environmentError(failureText({ name, version }, stdout, stderr));
}

const npmFailureSchema = z.object({
  error: z.object({ code: z.string().optional(), summary: z.string() }),
});

function failureText({ name, version }: PackageVersion, stdout: string, stderr: string): string {
  const { code, summary } = parseJson(stdout, npmFailureSchema)?.error ?? {
    summary: lastLine(stderr) ?? "npm gave no reason",
  };
  if (code === "ETARGET" || code === "E404")
    return `the npm registry has no ${name} ${version}: npm view ${name} versions lists those that exist`;
  const reason = summary.replaceAll(/\s+/g, " ").slice(0, 300);
  return `${name} ${version} cannot be installed: ${reason}; check that npm can reach its registry`;
}

/** npm's own record of everything that it installed below a folder. */
const INSTALLED_TREE = join("node_modules", ".package-lock.json");
const installedTreeSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), integrity: z.string().optional() }),
  ),
});

function installedTreeIn(text: string): z.infer<typeof installedTreeSchema> {
  try {
    return parseAnswer(installedTreeSchema, text);
  } catch (error) {
    throw environmentError(`npm: its ${INSTALLED_TREE} does not fit: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function installedVersionIn(
  requested: PackageVersion,
  folder: string,
): Promise<InstalledVersion> {
  const { packages } = installedTreeIn(await readFile(join(folder, INSTALLED_TREE), "utf8"));
  const installed = packages[`node_modules/${requested.name}`];
  if (installed?.version !== requested.version) {
    throw environmentError(
      `npm installed ${requested.name} ${installed?.version ?? "not at all"} instead of ${requested.version}`,
    );
  }
  const packageEntries = Object.entries(packages).map(
    ([path, { version, integrity }]) =>
      [path.replace(/^node_modules\//, ""), { version, integrity }] as const,
  );
  return {
    name: requested.name,
    version: requested.version,
    sha256: hash("sha256", canonicalJson(Object.fromEntries(packageEntries))),
    packages: Object.fromEntries(packageEntries.map(([path, { version }]) => [path, version])),
  };
}
