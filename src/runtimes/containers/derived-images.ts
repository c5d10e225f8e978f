import { createHash } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { environmentError } from "../../contract/errors.js";
import { versionFolderName } from "../../contract/library-versions.js";
import type {
  ImageFacts,
  InstalledVersions,
  PartAllocation,
  PluginSource,
  RuntimeOptions,
} from "../types.js";
import { imageFacts } from "./engine.js";
import { type Builder, build, lastLine } from "./images.js";

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
const pluginPath = ({ facts }: PluginSource, index: number): string => `plugins/${index}/${facts.name}`;

const pluginAdditions = (plugins: readonly PluginSource[] = []): Addition[] =>
  plugins.map((plugin, index) => ({
    path: plugin.path,
    imagePath: pluginPath(plugin, index),
    what: plugin.facts.name,
    sha256: plugin.facts.sha256,
  }));

function versionAdditions({ folder, facts }: InstalledVersions = { folder: "", facts: [] }): Addition[] {
  return facts.map((each) => ({
    path: join(folder, versionFolderName(each)),
    imagePath: `versions/${versionFolderName(each)}`,
    what: `${each.name} ${each.version}`,
    sha256: each.sha256,
  }));
}

export function pathsInImage({
  plugins = [],
  versions,
}: Pick<RuntimeOptions, "plugins" | "versions">): Pick<PartAllocation, "plugins" | "versions"> {
  return {
    plugins: plugins.map((plugin, index) => `/app/${pluginPath(plugin, index)}`),
    ...(versions ? { versions: "/app/versions" } : {}),
  };
}

/**
 * On top of the project's images: nothing of this machine is mounted. Tags depend on the base image and the additions'
 * bytes. @throws environmentError with the last line of a build that failed
 */
export async function deriveImages(
  docker: Docker,
  builder: Builder,
  own: Readonly<Record<string, ImageFacts>>,
  options: DerivedOptions,
): Promise<Record<string, ImageFacts>> {
  const versions = versionAdditions(options.versions);
  const additions = [...pluginAdditions(options.plugins), ...versions];
  if (additions.length === 0) return { ...own };
  const suffix = versions.length > 0 ? "versions" : "plugins";
  const bytes = additions.map(({ imagePath, sha256 }) => `${sha256} ${imagePath}`).join("\n");
  const derived: Record<string, ImageFacts> = {};
  for (const [id, base] of Object.entries(own)) {
    const inputs = createHash("sha256").update(`${base.id}\n${bytes}`).digest("hex").slice(0, 12);
    const name = `ratelimit-bench-${id}:${inputs}-${suffix}`;
    let facts = await imageFacts(docker, name);
    if (!facts) {
      options.onSetupStep(`building the image ${name} with ${additions.map(({ what }) => what).join(", ")}`);
      const context = await mkdtemp(join(options.workFolder, "image-"));
      await writeBuildContext(context, base.name, additions);
      const { failed, all } = await build(builder, ["--tag", name], context, options);
      await rm(context, { recursive: true, force: true });
      facts = failed ? undefined : await imageFacts(docker, name);
      if (!facts) throw environmentError(`${builder.binary} build of ${name} failed: ${lastLine(all)}`);
    }
    derived[id] = facts;
  }
  return derived;
}

/** Fills the folder from which the image is built. In the image everything is readable by all users. */
async function writeBuildContext(
  context: string,
  base: string,
  additions: readonly Addition[],
): Promise<void> {
  for (const { path, imagePath } of additions) {
    await cp(path, join(context, imagePath), { recursive: true, verbatimSymlinks: true });
  }
  const folders = [...new Set(additions.map(({ imagePath }) => imagePath.split("/")[0]))];
  const steps = folders.flatMap((folder) => [
    `COPY ${folder} /app/${folder}`,
    `RUN chmod -R a+rX /app/${folder}`,
  ]);
  const lines = [`FROM ${base}`, "USER 0", ...steps, "USER 1000:1000"];
  await writeFile(join(context, "Dockerfile"), `${lines.join("\n")}\n`);
}
