import { hash } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { versionFolderName } from "../../contract/library-versions.js";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError } from "../../kit/errors.js";
import type {
  ImageIdentity,
  InstalledVersions,
  PartAllocation,
  PluginSource,
  RuntimeOptions,
} from "../runtime-types.js";
import { findImage } from "./container-engine.js";
import { type Builder, build, lastLine } from "./image-builds.js";

type DerivedOptions = Pick<
  RuntimeOptions,
  "plugins" | "versions" | "workFolder" | "onSetupStep" | "signal" | "hold"
>;

interface Addition {
  path: string;
  /** Below the project's folder in the image. */
  imagePath: string;
  what: string;
  sha256: string;
}

/** Below the project's folder, so that a plugin of one file can import the project's packages. */
const pluginPath = ({ identity }: PluginSource, index: number): string =>
  `plugins/${index}/${identity.name}`;

const pluginAdditions = (plugins: readonly PluginSource[] = []): Addition[] =>
  plugins.map((plugin, index) => ({
    path: plugin.path,
    imagePath: pluginPath(plugin, index),
    what: plugin.identity.name,
    sha256: plugin.identity.sha256,
  }));

function versionAdditions(
  { folder, installed }: InstalledVersions = { folder: "", installed: [] },
): Addition[] {
  return installed.map((version) => ({
    path: join(folder, versionFolderName(version)),
    imagePath: `versions/${versionFolderName(version)}`,
    what: `${version.name} ${version.version}`,
    sha256: version.sha256,
  }));
}

export function pathsInImage({
  plugins = [],
  versions,
}: Pick<RuntimeOptions, "plugins" | "versions">): Pick<PartAllocation, "plugins" | "versions"> {
  return definedOnly({
    plugins: plugins.map((plugin, index) => `/app/${pluginPath(plugin, index)}`),
    versions: versions && "/app/versions",
  });
}

/**
 * Images on top of the project's, with plugins and versions: nothing of this machine is mounted. Tags depend on the base image
 * and the additions' bytes. @throws environmentError with the last line of a build that failed
 */
export async function deriveImages(
  docker: Docker,
  builder: Builder,
  bases: Readonly<Record<string, ImageIdentity>>,
  options: DerivedOptions,
): Promise<Record<string, ImageIdentity>> {
  const versions = versionAdditions(options.versions);
  const additions = [...pluginAdditions(options.plugins), ...versions];
  if (additions.length === 0) return { ...bases };

  const suffix = versions.length > 0 ? "versions" : "plugins";
  const bytes = additions.map(({ imagePath, sha256 }) => `${sha256} ${imagePath}`).join("\n");
  const derived: Record<string, ImageIdentity> = {};
  for (const [id, base] of Object.entries(bases)) {
    const inputs = hash("sha256", `${base.id}\n${bytes}`).slice(0, 12);
    const name = `ratelimit-bench-${id}:${inputs}-${suffix}`;
    derived[id] =
      (await findImage(docker, name)) ??
      (await buildDerived(docker, builder, name, base.name, additions, options));
  }
  return derived;
}

async function buildDerived(
  docker: Docker,
  builder: Builder,
  name: string,
  base: string,
  additions: readonly Addition[],
  options: DerivedOptions,
): Promise<ImageIdentity> {
  const what = additions.map((addition) => addition.what).join(", ");
  options.onSetupStep(`building the image ${name} with ${what}`);
  const context = await mkdtemp(join(options.workFolder, "image-"));
  await writeBuildContext(context, base, additions);
  const { failed, all } = await build(builder, ["--tag", name], context, options);
  await rm(context, { recursive: true, force: true });
  const image = failed ? undefined : await findImage(docker, name);
  if (image) return image;
  throw environmentError(`${builder.binary} build of ${name} failed: ${lastLine(all)}`);
}

async function writeBuildContext(context: string, base: string, additions: readonly Addition[]) {
  for (const { path, imagePath } of additions)
    await cp(path, join(context, imagePath), { recursive: true, verbatimSymlinks: true });
  const folders = [...new Set(additions.map(({ imagePath }) => imagePath.split("/")[0]))];
  const steps = folders.flatMap((folder) => [
    `COPY ${folder} /app/${folder}`,
    `RUN chmod -R a+rX /app/${folder}`,
  ]);
  const lines = [`FROM ${base}`, "USER 0", ...steps, "USER 1000:1000"];
  await writeFile(join(context, "Dockerfile"), `${lines.join("\n")}\n`);
}
