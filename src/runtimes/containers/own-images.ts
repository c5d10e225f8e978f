import { createHash, hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import type Docker from "dockerode";
import { environmentError } from "../../kit/errors.js";
import { ownPrograms } from "../own-programs.js";
import type { ImageIdentity, OwnProgram, RuntimeOptions } from "../runtime-types.js";
import { findImage } from "./container-engine.js";
import { type Builder, build, lastLine } from "./image-builds.js";

const INPUTS = [
  ".dockerignore",
  "package.json",
  "package-lock.json",
  // This file replaces package-lock.json in a published package.
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
 * The label with the copy of the project for which an image was built. It is a hash, because the path
 * is private.
 */
const PACKAGE_LABEL = "ratelimit-bench.package";
const packageId = (packageFolder: string): string =>
  hash("sha256", resolve(packageFolder)).slice(0, 16);

const nodeVersion = (): string => process.env.NODE_VERSION || "24";

/** The name of one of the project's images, with a tag that depends on all that it is built from. */
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
    .filter((name) => !current.some((currentName) => name.endsWith(currentName)))
    .map((name) => ({
      what: `the image ${name} of an earlier state of this project`,
      // The image is not removed by force, so that one which a container uses stays.
      remove: (engine: Docker) => engine.getImage(name).remove(),
    }));
}

type BuildOptions = Pick<RuntimeOptions, "packageFolder" | "onSetupStep" | "signal" | "hold">;

/** The project's images, built where missing or older than their inputs. @throws environmentError */
export async function ownImages(
  docker: Docker,
  builder: Builder,
  options: BuildOptions,
): Promise<Record<string, ImageIdentity>> {
  const images: Record<string, ImageIdentity> = {};
  for (const id of ownPrograms) {
    const name = await ownName(id, options.packageFolder);
    images[id] =
      (await findImage(docker, name)) ?? (await buildOwn(docker, builder, id, name, options));
  }
  return images;
}

async function buildOwn(
  docker: Docker,
  builder: Builder,
  id: OwnProgram,
  name: string,
  options: BuildOptions,
): Promise<ImageIdentity> {
  const { packageFolder } = options;
  const dockerfile = `Dockerfile.${id}`;
  options.onSetupStep(`building the image ${name}`);
  const parameters = [
    "--file",
    dockerfile,
    "--tag",
    name,
    "--label",
    `${PACKAGE_LABEL}=${packageId(packageFolder)}`,
    "--build-arg",
    `NODE_VERSION=${nodeVersion()}`,
    "--build-arg",
    `INPUTS=${name.split(":")[1]}`,
  ];
  const { failed, all } = await build(builder, parameters, packageFolder, options);
  const image = failed ? undefined : await findImage(docker, name);
  if (image) return image;
  throw environmentError(`${builder.binary} build of ${dockerfile} failed: ${lastLine(all)}`);
}
