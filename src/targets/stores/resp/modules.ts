import { modules } from "../../modules/index.js";
import { type StoreNode, unlessRefused } from "./nodes.js";

/** A list, which is empty where the server gives none. */
async function listOf(call: Promise<unknown>): Promise<unknown[]> {
  const list = await unlessRefused(call);
  return Array.isArray(list) ? list : [];
}

/**
 * Reads the versions of a node's modules by name in lower case, from pairs such as `name redis-cell
 * ver 1`.
 */
async function loadedVersions(node: StoreNode): Promise<Map<string, string>> {
  const lists = (await listOf(node.call("MODULE", "LIST"))) as unknown[][];
  return new Map(
    lists.map((pairs) => {
      const value = (name: string) => String(pairs[pairs.indexOf(name) + 1] ?? "");
      return [value("name").toLowerCase(), value("ver")] as const;
    }),
  );
}

/**
 * The known modules of one node. A module is known by its command, because its file may
 * have any name.
 */
async function modulesOfNode(node: StoreNode): Promise<Record<string, string>> {
  const versions = await loadedVersions(node);
  const infos = await listOf(
    node.call("COMMAND", "INFO", ...modules.map(({ command }) => command)),
  );
  const loaded: Record<string, string> = {};
  for (const [index, { id, name }] of modules.entries()) {
    if (Array.isArray(infos[index])) loaded[id] = versions.get(name.toLowerCase()) ?? "";
  }
  return loaded;
}

/**
 * The known modules that every node has loaded, by id, with the version that the first node
 * reports.
 */
export async function modulesOf(nodes: readonly StoreNode[]): Promise<Record<string, string>> {
  const [first = {}, ...others] = await Promise.all(nodes.map(modulesOfNode));
  return Object.fromEntries(
    Object.entries(first).filter(([id]) => others.every((loaded) => id in loaded)),
  );
}
