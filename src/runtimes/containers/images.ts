import { createHash, hash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { execa } from "execa";
import { versionFolderName } from "../../contract/library-versions.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { ownPrograms } from "../own-programs.js";
import { untilEnded } from "../processes.js";
import type {
  ImageFacts,
  InstalledVersions,
  OwnProgram,
  PartAllocation,
  PluginSource,
  ProgramSource,
  RuntimeOptions,
} from "../runtime-types.js";
import { hasStatus, imageFacts } from "./container-engine.js";
import { removeContainer } from "./container-part.js";
import { imageDigests } from "./image-digests.js";

type CopyOptions = Pick<RuntimeOptions, "onSetupStep" | "signal">;

export type ImageHolder = { docker: Docker; name: string };

type ImageDetails = { Id: string; Architecture: string; RootFS: { Layers?: string[] } };

const detailsOf = async (docker: Docker, name: string): Promise<ImageDetails> =>
  (await docker.getImage(name).inspect()) as unknown as ImageDetails;

/**
 * Engines that keep images differently have different ids for the same one: then its layers tell.
 */
const isSame = (one: ImageDetails, other: ImageDetails): boolean =>
  one.Id === other.Id ||
  (one.Architecture === other.Architecture &&
    JSON.stringify(one.RootFS.Layers) === JSON.stringify(other.RootFS.Layers));

/** The image on `to` that is the same as that on `from`; undefined where it has none. */
async function sameImage(from: ImageHolder, to: ImageHolder, { id, name }: ImageFacts) {
  const byId = await imageFacts(to.docker, id);
  if (byId) return { ...byId, name };
  const byName = await imageFacts(to.docker, name);
  if (!byName) return undefined;
  const [one, other] = await Promise.all([
    detailsOf(from.docker, id),
    detailsOf(to.docker, byName.id),
  ]);
  return isSame(one, other) ? byName : undefined;
}

/**
 * Copied where missing, in the same order. Where another image has the name, it keeps it: the copy
 * has none.
 * @throws environmentError when they cannot be copied
 */
export async function copyImages(
  from: ImageHolder,
  to: ImageHolder,
  images: readonly ImageFacts[],
  options: CopyOptions,
): Promise<ImageFacts[]> {
  const missing: ImageFacts[] = [];
  for (const image of images) if (!(await sameImage(from, to, image))) missing.push(image);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(", ");
    options.onSetupStep(`copying ${names} from ${from.name} to ${to.name}`);
    const isTaken = async ({ name }: ImageFacts) =>
      (await imageFacts(to.docker, name)) !== undefined;
    const references = await Promise.all(
      missing.map(async (image) => ((await isTaken(image)) ? image.id : image.name)),
    );
    await transfer(from.docker, to.docker, references, options.signal).catch((cause) => {
      throw environmentError(`${names} cannot be copied to ${to.name}: ${messageOf(cause)}`, {
        cause,
      });
    });
  }
  return Promise.all(
    images.map(async (image) => {
      const copy = await sameImage(from, to, image);
      if (copy) return copy;
      throw environmentError(
        `${image.name} was copied to ${to.name}, which then has another image`,
      );
    }),
  );
}

/** What the library's types leave out. */
interface Saving {
  getImages(options: { names: readonly string[] }): Promise<Readable>;
}

/** `docker save | docker load`: layers that several images share are sent once. */
async function transfer(
  from: Docker,
  to: Docker,
  references: readonly string[],
  signal: AbortSignal,
) {
  signal.throwIfAborted();
  const saved = await (from as Docker & Saving).getImages({ names: references });
  const stop = () => saved.destroy(new Error("interrupted"));
  signal.addEventListener("abort", stop, { once: true });
  try {
    const loaded = await to.loadImage(saved, { quiet: true });
    await new Promise<void>((resolve, reject) => {
      to.modem.followProgress(loaded, (error: Error | null, lines?: { error?: string }[]) => {
        const refused = lines?.find((line) => line.error !== undefined)?.error;
        if (error || refused !== undefined) reject(error ?? new Error(refused));
        else resolve();
      });
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Brings images from engines that have them. What nobody has for its architecture stays missing.
 */
export async function fetchImages(
  sources: readonly ImageHolder[],
  to: ImageHolder,
  names: readonly string[],
  options: CopyOptions,
): Promise<void> {
  const missing: string[] = [];
  for (const name of names) if (!(await imageFacts(to.docker, name))) missing.push(name);
  if (missing.length === 0) return;
  const { Arch } = await to.docker.version();
  for (const source of sources.filter(({ docker }) => docker !== to.docker)) {
    const held: ImageFacts[] = [];
    for (const name of missing) {
      // Another machine that does not answer is no reason to stop: the image is built or pulled.
      const image = await imageFacts(source.docker, name).catch(() => undefined);
      if (image && (await detailsOf(source.docker, name)).Architecture === Arch) held.push(image);
    }
    if (held.length === 0) continue;
    await copyImages(source, to, held, options);
    for (const { name } of held) missing.splice(missing.indexOf(name), 1);
  }
}

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
const pluginPath = ({ facts }: PluginSource, index: number): string =>
  `plugins/${index}/${facts.name}`;

const pluginAdditions = (plugins: readonly PluginSource[] = []): Addition[] =>
  plugins.map((plugin, index) => ({
    path: plugin.path,
    imagePath: pluginPath(plugin, index),
    what: plugin.facts.name,
    sha256: plugin.facts.sha256,
  }));

function versionAdditions(
  { folder, facts }: InstalledVersions = { folder: "", facts: [] },
): Addition[] {
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
 * On top of the project's images: nothing of this machine is mounted. Tags depend on the base image
 * and the additions' bytes. @throws environmentError with the last line of a build that failed
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
    const inputs = hash("sha256", `${base.id}\n${bytes}`).slice(0, 12);
    const name = `ratelimit-bench-${id}:${inputs}-${suffix}`;
    let facts = await imageFacts(docker, name);
    if (!facts) {
      options.onSetupStep(
        `building the image ${name} with ${additions.map(({ what }) => what).join(", ")}`,
      );
      const context = await mkdtemp(join(options.workFolder, "image-"));
      await writeBuildContext(context, base.name, additions);
      const { failed, all } = await build(builder, ["--tag", name], context, options);
      await rm(context, { recursive: true, force: true });
      facts = failed ? undefined : await imageFacts(docker, name);
      if (!facts)
        throw environmentError(`${builder.binary} build of ${name} failed: ${errorLine(all)}`);
    }
    derived[id] = facts;
  }
  return derived;
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

const INPUTS = [
  ".dockerignore",
  "package.json",
  "package-lock.json",
  // Replaces package-lock.json in a published package.
  "npm-shrinkwrap.json",
  "tsconfig.json",
  "tsconfig.build.json",
];
const INPUT_FOLDERS = ["docker", "src"];

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

async function hashOf(
  dockerfile: string,
  nodeVersion: string,
  packageFolder: string,
): Promise<string> {
  const inputs = createHash("sha256").update(nodeVersion);
  const folders = await Promise.all(
    INPUT_FOLDERS.map((name) => filesBelow(join(packageFolder, name))),
  );
  const single = [dockerfile, ...INPUTS].map((name) => join(packageFolder, name));
  for (const path of [...single, ...folders.flat()])
    inputs.update(relative(packageFolder, path)).update(await readFile(path).catch(() => ""));
  return inputs.digest("hex").slice(0, 12);
}

/**
 * Label of an image: the copy of the project for which it was built, as a hash because the path is
 * private.
 */
const PACKAGE_LABEL = "ratelimit-bench.package";
const packageId = (packageFolder: string): string =>
  hash("sha256", resolve(packageFolder)).slice(0, 16);

const nodeVersion = (): string => process.env.NODE_VERSION || "24";

/** Name and tag of one of the project's images; the tag depends on all that it is built from. */
export async function ownName(id: OwnProgram, packageFolder: string): Promise<string> {
  const inputs = await hashOf(`Dockerfile.${id}`, nodeVersion(), packageFolder);
  return `ratelimit-bench-${id}:${inputs}`;
}

export const ownImageNames = (packageFolder: string): Promise<string[]> =>
  Promise.all(ownPrograms.map((id) => ownName(id, packageFolder)));

/** Images that were built for earlier states of this copy of the project. */
export async function outdatedImages(
  docker: Docker,
  packageFolder: string,
): Promise<{ what: string; remove(engine: Docker): Promise<unknown> }[]> {
  const current = await ownImageNames(packageFolder);
  const filters = JSON.stringify({ label: [`${PACKAGE_LABEL}=${packageId(packageFolder)}`] });
  const names = (await docker.listImages({ filters })).flatMap(({ RepoTags }) => RepoTags ?? []);
  const ours = names.filter((name) =>
    ownPrograms.some((id) => name.includes(`ratelimit-bench-${id}:`)),
  );
  return ours
    .filter((name) => !current.some((mine) => name.endsWith(mine)))
    .map((name) => ({
      what: `the image ${name} of an earlier state of this project`,
      // Not by force: an image that a container uses stays.
      remove: (engine: Docker) => engine.getImage(name).remove(),
    }));
}

/**
 * A command that builds images like `docker build`, and the environment in which it finds the
 * engine.
 */
export type Builder = { binary: string; environment: Readonly<Record<string, string>> };

type BuildOptions = Pick<RuntimeOptions, "packageFolder" | "onSetupStep" | "signal" | "hold">;

/**
 * The project's images, built where missing or older than their inputs. @throws environmentError
 */
export async function ownImages(
  docker: Docker,
  builder: Builder,
  options: BuildOptions,
): Promise<Record<string, ImageFacts>> {
  const built: Record<string, ImageFacts> = {};
  for (const id of ownPrograms) {
    const dockerfile = `Dockerfile.${id}`;
    const name = await ownName(id, options.packageFolder);
    let facts = await imageFacts(docker, name);
    if (!facts) {
      options.onSetupStep(`building the image ${name}`);
      const values = [`NODE_VERSION=${nodeVersion()}`, `INPUTS=${name.split(":")[1]}`];
      const parameters = [
        ...["--file", dockerfile, "--tag", name],
        ...["--label", `${PACKAGE_LABEL}=${packageId(options.packageFolder)}`],
        ...values.flatMap((value) => ["--build-arg", value]),
      ];
      const { failed, all } = await build(builder, parameters, options.packageFolder, options);
      facts = failed ? undefined : await imageFacts(docker, name);
      if (!facts)
        throw environmentError(
          `${builder.binary} build of ${dockerfile} failed: ${errorLine(all)}`,
        );
    }
    built[id] = facts;
  }
  return built;
}

/**
 * Builds one image from a folder. The signal ends the builder and all processes that it started.
 */
export async function build(
  { binary, environment }: Builder,
  parameters: readonly string[],
  folder: string,
  { signal, hold }: Pick<BuildOptions, "signal" | "hold">,
): Promise<{ failed: boolean; all?: string | undefined }> {
  signal.throwIfAborted();
  const building = execa(binary, ["build", ...parameters, "."], {
    cwd: folder,
    env: environment,
    stdin: "ignore",
    detached: true,
    all: true,
    reject: false,
  });
  await untilEnded(building, signal, hold);
  return building;
}

/** The line of a build log that names the error. */
export const errorLine = (text: string | undefined): string => {
  const lines = (text ?? "").split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "it printed nothing";
};

/** Why a program does not run in containers. */
export const noImage = ({ id }: ProgramSource): string =>
  `no image of ${id} is known: name one with --image ${id}=REF`;

/**
 * What to know of an image whose tag is listed with another digest; one without any was built or
 * loaded here.
 */
export function movedTag({ name, digest }: ImageFacts, listed = imageDigests): string[] {
  const expected = listed[name];
  if (!expected || !digest || digest === expected) return [];
  return [`the tag ${name} has moved: the image here is ${digest}, the listed one ${expected}`];
}

/**
 * The images of these programs by id, pulled where missing; a text says why one is not available.
 */
export async function programImages(
  docker: Docker,
  { programs, onSetupStep }: Pick<RuntimeOptions, "programs" | "onSetupStep">,
  digests = imageDigests,
): Promise<Map<string, ImageFacts | string>> {
  const found = await Promise.all(
    programs.map(async (program) => {
      const { id, image } = program;
      const facts = image
        ? pulled(docker, image, digests[image], onSetupStep).catch(messageOf)
        : noImage(program);
      return [id, await facts] as const;
    }),
  );
  return new Map(found);
}

/**
 * The command of an image that starts this executable, with its path: an image may have it beside
 * PATH.
 */
export async function commandIn(
  docker: Docker,
  { id }: ImageFacts,
  executable: string,
): Promise<string> {
  const { Config } = await docker.getImage(id).inspect();
  const words = [Config.Entrypoint ?? [], Config.Cmd ?? []].flat();
  return words.find((word) => basename(word) === executable) ?? executable;
}

/** Where an engine looks for programs if the image names no folders. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Whether an image contains a program, or why it cannot be used. Nothing is started. */
export async function hasProgram(
  docker: Docker,
  { name, id }: ImageFacts,
  program: ProgramSource,
  labels: Readonly<Record<string, string>>,
): Promise<true | string> {
  const { command } = program;
  const { Config } = await docker.getImage(id).inspect();
  const path = (Config.Env ?? []).find((text) => text.startsWith("PATH="))?.slice("PATH=".length);
  const container = await docker.createContainer({
    Image: id,
    Cmd: [command],
    Labels: { ...labels },
  });
  try {
    const folders = (path ?? DEFAULT_PATH).split(":");
    for (const place of isAbsolute(command)
      ? [command]
      : folders.map((folder) => `${folder}/${command}`)) {
      const found = await container.infoArchive({ path: place }).catch((error) => {
        if (hasStatus(error, 404)) return undefined;
        throw error;
      });
      if (found) return true;
    }
  } finally {
    await removeContainer(container);
  }
  return `the image ${name} has no program ${command}: name another with --image ${program.id}=REF`;
}

async function pulled(
  docker: Docker,
  name: string,
  pin: string | null | undefined,
  onSetupStep: (text: string) => void,
): Promise<ImageFacts> {
  const facts = async () => {
    const found = await imageFacts(docker, name, pin);
    return found && pin !== undefined ? { ...found, pinned: found.digest === pin } : found;
  };
  const existing = await facts();
  if (existing) return existing;
  const [repo, tag] = [name.slice(0, name.lastIndexOf(":")), name.slice(name.lastIndexOf(":") + 1)];
  const reference = pin ? `${repo}@${pin}` : name;
  onSetupStep(`pulling ${name}${pin ? `@${pin}` : ""}`);
  try {
    const progress = await docker.pull(reference);
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(progress, (error: Error | null) =>
        error ? reject(error) : resolve(),
      );
    });
    // Pulled by digest it has no tag, by which it is found the next time.
    if (pin) await docker.getImage(reference).tag({ repo, tag });
  } catch (error) {
    throw new Error(`the image ${name} cannot be pulled: ${messageOf(error)}`, { cause: error });
  }
  const image = await facts();
  if (!image) throw new Error(`the image ${name} cannot be found`);
  return image;
}
