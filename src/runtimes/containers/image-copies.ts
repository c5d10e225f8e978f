import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { environmentError, messageOf } from "../../kit/errors.js";
import type { ImageIdentity, RuntimeOptions } from "../runtime-types.js";
import { findImage } from "./container-engine.js";

type CopyOptions = Pick<RuntimeOptions, "onSetupStep" | "signal">;

export type ImageHolder = { docker: Docker; name: string };

type ImageDetails = { Id: string; Architecture: string; RootFS: { Layers?: string[] } };

const detailsOf = async (docker: Docker, name: string): Promise<ImageDetails> =>
  (await docker.getImage(name).inspect()) as unknown as ImageDetails;

/**
 * Whether two images are the same. Engines that keep images differently have different ids for the
 * same one, whose layers are then compared.
 */
const isSame = (first: ImageDetails, second: ImageDetails): boolean =>
  first.Id === second.Id ||
  (first.Architecture === second.Architecture &&
    JSON.stringify(first.RootFS.Layers) === JSON.stringify(second.RootFS.Layers));

/** The image on `to` that is the same as that on `from`; undefined where it has none. */
async function sameImage(from: ImageHolder, to: ImageHolder, { id, name }: ImageIdentity) {
  const byId = await findImage(to.docker, id);
  if (byId) return { ...byId, name };
  const byName = await findImage(to.docker, name);
  if (!byName) return undefined;

  const [source, candidate] = await Promise.all([
    detailsOf(from.docker, id),
    detailsOf(to.docker, byName.id),
  ]);
  return isSame(source, candidate) ? byName : undefined;
}

/**
 * The images as `to` has them, in the same order, copied where they are missing. Where another image
 * has the name already, the copy has none.
 * @throws environmentError where they cannot be copied
 */
export async function copyImages(
  from: ImageHolder,
  to: ImageHolder,
  images: readonly ImageIdentity[],
  options: CopyOptions,
): Promise<ImageIdentity[]> {
  const missing: ImageIdentity[] = [];
  for (const image of images) {
    if (!(await sameImage(from, to, image))) missing.push(image);
  }
  if (missing.length > 0) await copyMissing(from, to, missing, options);

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

async function copyMissing(
  from: ImageHolder,
  to: ImageHolder,
  images: readonly ImageIdentity[],
  options: CopyOptions,
): Promise<void> {
  const names = images.map(({ name }) => name).join(", ");
  options.onSetupStep(`copying ${names} from ${from.name} to ${to.name}`);
  const references = await Promise.all(
    images.map(async ({ id, name }) => {
      const isTaken = (await findImage(to.docker, name)) !== undefined;
      return isTaken ? id : name;
    }),
  );
  await transfer(from.docker, to.docker, references, options.signal).catch((cause) => {
    throw environmentError(`${names} cannot be copied to ${to.name}: ${messageOf(cause)}`, {
      cause,
    });
  });
}

/** A function of the library that its types leave out. */
interface Saving {
  getImages(options: { names: readonly string[] }): Promise<Readable>;
}

/** Copies images like `docker save | docker load`, which sends layers that images share only once. */
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

/** Brings images from engines that have them. Images that no engine has for its architecture stay missing. */
export async function fetchImages(
  sources: readonly ImageHolder[],
  to: ImageHolder,
  names: readonly string[],
  options: CopyOptions,
): Promise<void> {
  const missing: string[] = [];
  for (const name of names) {
    if (!(await findImage(to.docker, name))) missing.push(name);
  }
  if (missing.length === 0) return;

  const { Arch } = await to.docker.version();
  for (const source of sources.filter(({ docker }) => docker !== to.docker)) {
    const held: ImageIdentity[] = [];
    for (const name of missing) {
      // A machine that does not answer is no reason to stop, because the image is built or pulled.
      const image = await findImage(source.docker, name).catch(() => undefined);
      if (image && (await detailsOf(source.docker, name)).Architecture === Arch) held.push(image);
    }
    if (held.length === 0) continue;
    await copyImages(source, to, held, options);
    for (const { name } of held) missing.splice(missing.indexOf(name), 1);
  }
}
