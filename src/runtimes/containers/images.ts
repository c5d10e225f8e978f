import { basename, isAbsolute } from "node:path";
import type Docker from "dockerode";
import { messageOf } from "../../kit/errors.js";
import type { ImageIdentity, ProgramSource, RuntimeOptions } from "../runtime-types.js";
import { findImage, hasEngineStatus } from "./container-engine.js";
import { removeContainer } from "./container-part.js";
import { imageDigests } from "./image-digests.js";

/** Why a program does not run in containers. */
export const noImage = ({ id }: ProgramSource): string =>
  `no image of ${id} is known: name one with --image ${id}=REF`;

/**
 * A note on an image whose tag is listed with another digest. An image without a digest was built or
 * loaded here.
 */
export function movedTag({ name, digest }: ImageIdentity, listed = imageDigests): string[] {
  const expected = listed[name];
  if (!expected || !digest || digest === expected) return [];
  return [`the tag ${name} has moved: the image here is ${digest}, the listed one ${expected}`];
}

/** Why the image of an app cannot be used. */
export const missingImage = (engine: string, name: string): string =>
  `${engine} has no image ${name}: build it, or get it with: ${engine.toLowerCase()} pull ${name}`;

/**
 * The images of these programs by id, pulled where missing, or a text on why one is not available.
 * Images of apps are not pulled.
 */
export async function programImages(
  docker: Docker,
  { programs, onSetupStep }: Pick<RuntimeOptions, "programs" | "onSetupStep">,
  digests = imageDigests,
): Promise<Map<string, ImageIdentity | string>> {
  const entries = await Promise.all(
    programs.map(async (program) => {
      const { id, image, isApp } = program;
      if (!image) return [id, noImage(program)] as const;
      const availableImage = isApp
        ? findImage(docker, image).then(
            (foundImage) => foundImage ?? `there is no image ${image} here any more`,
          )
        : pulled(docker, image, digests[image], onSetupStep).catch(messageOf);
      return [id, await availableImage] as const;
    }),
  );
  return new Map(entries);
}

/** The command of an image that starts this executable, with its path, which may not be in PATH. */
export async function commandIn(
  docker: Docker,
  { id }: ImageIdentity,
  executable: string,
): Promise<string> {
  const { Config } = await docker.getImage(id).inspect();
  const words = [Config.Entrypoint ?? [], Config.Cmd ?? []].flat();
  return words.find((word) => basename(word) === executable) ?? executable;
}

/** The folders in which an engine looks for programs if the image names none. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Whether an image contains a program, or why it cannot be used. Nothing is started. */
export async function hasProgram(
  docker: Docker,
  { name, id }: ImageIdentity,
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
    const places = isAbsolute(command)
      ? [command]
      : folders.map((folder) => `${folder}/${command}`);
    for (const place of places) {
      if (await hasFile(container, place)) return true;
    }
  } finally {
    await removeContainer(container);
  }
  return `the image ${name} has no program ${command}: name another with --image ${program.id}=REF`;
}

async function hasFile(container: Docker.Container, path: string): Promise<boolean> {
  try {
    await container.infoArchive({ path });
    return true;
  } catch (error) {
    if (hasEngineStatus(error, 404)) return false;
    throw error;
  }
}

/**
 * The image of that name, from a registry where it is missing.
 * @param pin the digest that it must have; null where the list names none
 */
async function pulled(
  docker: Docker,
  name: string,
  pin: string | null | undefined,
  onSetupStep: (text: string) => void,
): Promise<ImageIdentity> {
  const findPinned = async () => {
    const image = await findImage(docker, name, pin);
    return image && pin !== undefined ? { ...image, pinned: image.digest === pin } : image;
  };
  const existing = await findPinned();
  if (existing) return existing;

  const colon = name.lastIndexOf(":");
  const repo = name.slice(0, colon);
  const tag = name.slice(colon + 1);
  const reference = pin ? `${repo}@${pin}` : name;
  onSetupStep(`pulling ${name}${pin ? `@${pin}` : ""}`);
  try {
    const progress = await docker.pull(reference);
    await new Promise<void>((resolve, reject) => {
      docker.modem.followProgress(progress, (error: Error | null) =>
        error ? reject(error) : resolve(),
      );
    });
    // An image that was pulled by digest needs a tag, by which it is found the next time.
    if (pin) await docker.getImage(reference).tag({ repo, tag });
  } catch (error) {
    throw new Error(`the image ${name} cannot be pulled: ${messageOf(error)}`, { cause: error });
  }
  const image = await findPinned();
  if (!image) throw new Error(`the image ${name} cannot be found`);
  return image;
}
