import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { messageOf, usageError } from "../contract/errors.js";
import type { PluginFacts } from "../contract/plugins.js";
import { userPath } from "./place.js";

/** A plugin on this machine, before it is loaded. */
export interface PluginSource {
  /** Of the file or folder, absolute, without links. */
  path: string;
  /** As its user names it in what is said of it. */
  shown: string;
  /** The module to import. */
  entry: string;
  /** One file: it may import what the project has, and Node's own modules. */
  alone: boolean;
  facts: PluginFacts;
}

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

/** All files and links below a folder, in a fixed order, with what they hold. */
async function contents(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  return Promise.all(
    paths.map(async (path) => {
      const name = relative(folder, path);
      if (!(await lstat(path)).isSymbolicLink()) return `${sha256(await readFile(path))}  ${name}`;
      const target = await readlink(path);
      if (!resolve(dirname(path), target).startsWith(folder + sep)) {
        throw new Error(`${name} is a link out of the folder, which cannot go into a container`);
      }
      return `${target}  ${name}`;
    }),
  );
}

interface PackageFile {
  version?: string;
  entry: string;
}

/** What a folder's package.json says of its module: `exports` as a text, or `main`; else index.js. */
async function packageOf(folder: string): Promise<PackageFile> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => {
    throw new Error("a folder needs a package.json");
  });
  const { version, exports, main } = JSON.parse(text) as Record<string, unknown>;
  const named = [exports, main].find((entry) => typeof entry === "string") ?? "index.js";
  return { entry: join(folder, String(named)), ...(typeof version === "string" ? { version } : {}) };
}

/**
 * Reads the bytes of a plugin.
 * @throws usageError naming the path, when there is nothing that could be one
 */
export async function readPlugin(asked: string): Promise<PluginSource> {
  try {
    const path = await realpath(asked);
    const [name, shown] = [basename(path), userPath(asked)];
    if (!(await lstat(path)).isDirectory()) {
      return { path, shown, entry: path, alone: true, facts: { name, sha256: sha256(await readFile(path)) } };
    }
    const { entry, version } = await packageOf(path);
    const facts = {
      name,
      sha256: sha256((await contents(path)).join("\n")),
      ...(version ? { version } : {}),
    };
    return { path, shown, entry, alone: false, facts };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file or folder" : messageOf(error);
    throw usageError(`plugin ${JSON.stringify(asked.slice(0, 300))}: ${why}`, { cause: error });
  }
}
