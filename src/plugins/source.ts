import { createHash } from "node:crypto";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import type { PluginIdentity } from "../contract/plugins.js";
import { definedOnly } from "../kit/defined-only.js";
import { displayPath } from "../kit/display-path.js";
import { messageOf, usageError } from "../kit/errors.js";
import { readUserFile } from "../kit/user-files.js";

/** A plugin on this machine, before it is loaded. */
export interface PluginFiles {
  /** The absolute path of the file or folder, without symbolic links. */
  path: string;
  displayName: string;
  entry: string;
  /** Whether it is a single file, which may import the project's packages and Node's modules. */
  isSingleFile: boolean;
  identity: PluginIdentity;
}

/** The largest file of a plugin, which may contain libraries. */
export const MAX_BYTES = 256 * 1024 ** 2;
const read = (path: string): Buffer => readUserFile(path, MAX_BYTES);

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

/** Lists all files and links below a folder, sorted, with checksum or link target. */
async function contents(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  return Promise.all(
    paths.map(async (path) => {
      const name = relative(folder, path);
      if (!(await lstat(path)).isSymbolicLink()) return `${sha256(read(path))}  ${name}`;
      const target = await readlink(path);
      if (!resolve(dirname(path), target).startsWith(folder + sep))
        throw new Error(`${name} is a link out of the folder, which cannot go into a container`);
      return `${target}  ${name}`;
    }),
  );
}

type PackageFile = { version?: string; entry: string };

/**
 * Reads the version and the entry module of a folder from its package.json. The entry is `exports`
 * as text, or `main`, or else index.js.
 */
async function packageOf(folder: string): Promise<PackageFile> {
  const path = join(folder, "package.json");
  await lstat(path).catch(() => {
    throw new Error("a folder needs a package.json");
  });
  const { version, exports, main } = JSON.parse(read(path).toString("utf8")) as Record<
    string,
    unknown
  >;
  const named = [exports, main].find((entry) => typeof entry === "string") ?? "index.js";

  return definedOnly({
    entry: join(folder, String(named)),
    version: typeof version === "string" && version !== "" ? version : undefined,
  });
}

/** Finds a plugin and computes its checksum. @throws usageError when it is not one */
export async function readPlugin(pluginPath: string): Promise<PluginFiles> {
  try {
    const path = await realpath(pluginPath);
    const name = basename(path);
    const displayName = displayPath(pluginPath);
    if (!(await lstat(path)).isDirectory()) {
      return {
        path,
        displayName,
        entry: path,
        isSingleFile: true,
        identity: { name, sha256: sha256(read(path)) },
      };
    }

    const { entry, version } = await packageOf(path);
    const checksum = sha256((await contents(path)).join("\n"));
    const identity = definedOnly({ name, sha256: checksum, version });
    return { path, displayName, entry, isSingleFile: false, identity };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "there is no such file or folder" : messageOf(error);
    throw usageError(`plugin ${JSON.stringify(pluginPath.slice(0, 300))}: ${reason}`, {
      cause: error,
    });
  }
}
