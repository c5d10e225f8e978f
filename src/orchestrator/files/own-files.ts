import { mkdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { z } from "zod";
import { environmentError, messageOf } from "../../kit/errors.js";
import { MAX_DOCUMENT_BYTES, readUserFile } from "../../kit/user-files.js";

/**
 * The bytes of a file that this project wrote; undefined where there is no such file.
 * @throws environmentError for a link, folder or pipe
 */
export function readOwnFile(path: string): Buffer | undefined {
  try {
    return readUserFile(path, MAX_DOCUMENT_BYTES, { isOwn: true });
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
    throw environmentError(`${path} cannot be read (${messageOf(error)}): remove it`, {
      cause: error,
    });
  }
}

/** The document of a JSON text; undefined where the text is no JSON or has another shape. */
export function parseJson<Shape>(text: string, schema: z.ZodType<Shape>): Shape | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Names of the Linux kernel's file systems, which cannot store files, by the type in `statfs`. */
const KERNEL_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x9fa0, "proc"],
  [0x62656572, "sysfs"],
  [0x27e0eb, "cgroup"],
  [0x63677270, "cgroup2"],
  [0x1cd1, "devpts"],
  [0x64626720, "debugfs"],
  [0x74726163, "tracefs"],
  [0x73636673, "securityfs"],
  [0xcafe4a11, "bpf"],
  [0x62656570, "configfs"],
  [0x6165676c, "pstore"],
  [0x19800202, "mqueue"],
  [0x958458f6, "hugetlbfs"],
]);

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/**
 * The path of a folder, or of the nearest folder above it that exists.
 * @throws Error where a path on the way is not a folder
 */
export async function nearestFolder(path: string): Promise<string> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) throw new Error(`${path} is not a folder`);
    return path;
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    return nearestFolder(dirname(path));
  }
}

/** @throws Error where a path is on a file system of the Linux kernel, such as `/proc` */
export async function requireRealFileSystem(path: string): Promise<void> {
  if (process.platform !== "linux") return;
  const name = KERNEL_FILE_SYSTEMS.get((await statfs(path)).type);
  if (name !== undefined) throw new Error(`${path} is on a kernel file system (${name})`);
}

/**
 * Makes a folder and those above it. Node's own recursive `mkdir` never returns below `/proc`, where
 * a parent seems missing.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (codeOf(error) === "EEXIST" && (await stat(path)).isDirectory()) return;
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await mkdir(path).catch((mkdirError) => {
      // Another process may have made the folder in the meantime.
      if (codeOf(mkdirError) !== "EEXIST") throw mkdirError;
    });
  }
}
