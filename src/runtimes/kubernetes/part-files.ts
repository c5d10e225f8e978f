import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { V1ObjectMeta, V1OwnerReference } from "@kubernetes/client-node";
import { environmentError } from "../../kit/errors.js";
import { type Part, textOf } from "../runtime-types.js";
import { apiFailure } from "./failures.js";
import type { KubernetesApi } from "./kubernetes-api.js";
import { ownAddress, type PodRequest } from "./pod.js";

/** The most bytes of the files of a part, which a ConfigMap takes with its own text. */
const MOST_FILE_BYTES = 1_000_000;

interface FileContent {
  path: string;
  bytes: Buffer;
}

/** What the ConfigMaps of a campaign's files have in common. */
interface FileMapOptions {
  /** The name of the campaign in the cluster, with which theirs begin. */
  name: string;
  owner: V1OwnerReference;
  metadata: Pick<V1ObjectMeta, "labels" | "annotations">;
}

/** The files of parts, in ConfigMaps: one for the same files, whichever parts have them. */
export class PartFiles {
  readonly #api: KubernetesApi;
  readonly #options: FileMapOptions;
  readonly #stored = new Map<string, Promise<string>>();

  constructor(api: KubernetesApi, options: FileMapOptions) {
    this.#api = api;
    this.#options = options;
  }

  /** The names of all ConfigMaps that were created. */
  get names(): readonly string[] {
    return [...this.#stored.keys()];
  }

  /**
   * Stores the files of a part where they are not stored yet; undefined where it has none.
   * @throws environmentError when they are too large, or the cluster does not take them
   */
  async of({ role, files = {} }: Part): Promise<PodRequest["files"]> {
    if (Object.keys(files).length === 0) return undefined;
    const contents = await contentsOf(files);
    const size_bytes = contents.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size_bytes > MOST_FILE_BYTES) {
      throw environmentError(
        `the files of ${role} have ${size_bytes} bytes, and a ConfigMap takes ${MOST_FILE_BYTES}: put them into an image and name it with --image`,
      );
    }

    const name = `${this.#options.name}-files-${hashOf(contents)}`;
    const configMap = this.#stored.get(name) ?? this.#store(name, role, contents);
    this.#stored.set(name, configMap);
    const paths = Object.fromEntries(contents.map(({ path }, index) => [`file-${index}`, path]));
    return { configMap: await configMap, paths };
  }

  /** @returns the name of the ConfigMap that holds the files */
  async #store(name: string, role: string, contents: readonly FileContent[]): Promise<string> {
    const metadata = { name, ...this.#options.metadata, ownerReferences: [this.#options.owner] };
    const binaryData = Object.fromEntries(
      contents.map(({ bytes }, index) => [`file-${index}`, bytes.toString("base64")]),
    );
    await this.#api.createConfigMap({ metadata, immutable: true, binaryData }).catch((error) => {
      throw environmentError(
        `the files of ${role} cannot be stored: ${apiFailure(error, this.#api)}`,
        { cause: error },
      );
    });
    return name;
  }
}

function contentsOf(files: NonNullable<Part["files"]>): Promise<FileContent[]> {
  return Promise.all(
    Object.entries(files).map(async ([path, file]) => ({
      path,
      bytes:
        "path" in file ? await readFile(file.path) : Buffer.from(await textOf(file, ownAddress)),
    })),
  );
}

function hashOf(contents: readonly FileContent[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes } of contents) hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  return hash.digest("hex").slice(0, 12);
}
