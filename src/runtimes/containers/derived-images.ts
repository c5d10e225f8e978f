import { createHash } from "node:crypto";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { environmentError } from "../../contract/errors.js";
import { versionFolderName } from "../../contract/versions.js";
import type { ImageFacts, Place, PluginPlace, RuntimeOptions, VersionPlace } from "../types.js";
import { imageFacts } from "./engine.js";
import { type Builder, build, lastLine } from "./images.js";

type DerivedOptions = Pick<RuntimeOptions, "plugins" | "versions" | "workFolder" | "say" | "signal" | "hold">;

/** A file or folder of this machine that a part in a container needs. */
interface Cargo {
  /** On this machine. */
  path: string;
  /** Below the project's folder in the image. */
  place: string;
  /** In words. */
  what: string;
  sha256: string;
}

/** Below the project, whose packages a single file may import. */
const pluginPlace = ({ facts }: PluginPlace, index: number): string => `plugins/${index}/${facts.name}`;

const pluginCargo = (plugins: readonly PluginPlace[] = []): Cargo[] =>
  plugins.map((plugin, index) => ({
    path: plugin.path,
    place: pluginPlace(plugin, index),
    what: plugin.facts.name,
    sha256: plugin.facts.sha256,
  }));

function versionCargo({ folder, facts }: VersionPlace = { folder: "", facts: [] }): Cargo[] {
  return facts.map((each) => ({
    path: join(folder, versionFolderName(each)),
    place: `versions/${versionFolderName(each)}`,
    what: `${each.name} ${each.version}`,
    sha256: each.sha256,
  }));
}

/** Where parts in containers find all that. */
export function placesInImage({
  plugins = [],
  versions,
}: Pick<RuntimeOptions, "plugins" | "versions">): Pick<Place, "plugins" | "versions"> {
  return {
    plugins: plugins.map((plugin, index) => `/app/${pluginPlace(plugin, index)}`),
    ...(versions ? { versions: "/app/versions" } : {}),
  };
}

/**
 * The same images with plugins, and the server's with versions of libraries, each an image of its own that is built
 * from ours: nothing of this machine is mounted. Tagged by what they were built from and by the bytes of all that.
 * @throws environmentError with the last line of a build that failed
 */
export async function withCargo(
  docker: Docker,
  builder: Builder,
  own: Readonly<Record<string, ImageFacts>>,
  options: DerivedOptions,
): Promise<Record<string, ImageFacts>> {
  const plugins = pluginCargo(options.plugins);
  const versions = versionCargo(options.versions);
  const derived: Record<string, ImageFacts> = { ...own };
  for (const [id, base] of Object.entries(own)) {
    const cargo = id === "server" ? [...plugins, ...versions] : plugins;
    if (cargo.length === 0) continue;
    const suffix = versions.length > 0 && id === "server" ? "versions" : "plugins";
    derived[id] = await laden(docker, builder, { id, base, cargo, suffix }, options);
  }
  return derived;
}

interface Laden {
  id: string;
  base: ImageFacts;
  cargo: readonly Cargo[];
  suffix: string;
}

async function laden(
  docker: Docker,
  builder: Builder,
  { id, base, cargo, suffix }: Laden,
  options: DerivedOptions,
): Promise<ImageFacts> {
  const bytes = cargo.map(({ place, sha256 }) => `${sha256} ${place}`).join("\n");
  const inputs = createHash("sha256").update(`${base.id}\n${bytes}`).digest("hex").slice(0, 12);
  const name = `ratelimit-bench-${id}:${inputs}-${suffix}`;
  const there = await imageFacts(docker, name);
  if (there) return there;
  options.say(`building the image ${name} with ${cargo.map(({ what }) => what).join(", ")}`);
  const context = await mkdtemp(join(options.workFolder, "image-"));
  await lay(context, base.name, cargo);
  const { failed, all } = await build(builder, ["--tag", name], context, options);
  const facts = failed ? undefined : await imageFacts(docker, name);
  await rm(context, { recursive: true, force: true });
  if (!facts) throw environmentError(`${builder.binary} build of ${name} failed: ${lastLine(all)}`);
  return facts;
}

/** Fills the folder that the image is built from; everybody may read what nobody can write in a container. */
async function lay(context: string, base: string, cargo: readonly Cargo[]): Promise<void> {
  for (const { path, place } of cargo) {
    await cp(path, join(context, place), { recursive: true, verbatimSymlinks: true });
  }
  const folders = [...new Set(cargo.map(({ place }) => place.split("/")[0]))];
  const steps = folders.flatMap((folder) => [
    `COPY ${folder} /app/${folder}`,
    `RUN chmod -R a+rX /app/${folder}`,
  ]);
  const lines = [`FROM ${base}`, "USER 0", ...steps, "USER 1000:1000"];
  await writeFile(join(context, "Dockerfile"), `${lines.join("\n")}\n`);
}
