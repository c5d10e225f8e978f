import type { Node } from "../../../contract/env.js";
import { environmentError } from "../../../contract/errors.js";
import type { Discovery } from "../../../contract/store.js";
import type { StoreNode } from "./nodes.js";
import { storesByFields } from "./version.js";

/** `id host:port@bus,name flags primary …` in a line of CLUSTER NODES. */
const NODE_LINE = /^\S+ (?<host>\S+):(?<port>\d+)@\S+ (?<flags>\S+)/;

/** All nodes of the cluster by their announced addresses, primaries first. */
function clusterNodes(text: string): Node[] {
  const nodes = text.split("\n").flatMap((line) => {
    const { host, port, flags } = NODE_LINE.exec(line)?.groups ?? {};
    if (!host || !port || !flags || /fail|noaddr|handshake/.test(flags)) return [];
    return [{ host, port: Number(port), primary: flags.includes("master") }];
  });
  const ordered = [...nodes.filter(({ primary }) => primary), ...nodes.filter(({ primary }) => !primary)];
  return ordered.map(({ host, port }) => ({ host, port }));
}

/**
 * Detects the type, version and topology of the store at the first node, and the addresses of its nodes.
 * @throws environmentError for an unknown type of store
 */
export async function discover([first]: readonly StoreNode[]): Promise<Discovery> {
  if (!first) throw environmentError("no store was named");
  const server = await first.info("server");
  const [found] = storesByFields((field) => server.has(field));
  if (!found) throw environmentError(`${first.name} is an unknown type of store: INFO reports no version`);
  const clustered = (await first.info("cluster")).get("cluster_enabled") === "1";
  return {
    store: found.id,
    version: server.get(found.versionField) ?? "",
    topology: clustered ? "cluster" : "standalone",
    nodes: clustered ? clusterNodes(String(await first.call("CLUSTER", "NODES"))) : [first.place],
  };
}
