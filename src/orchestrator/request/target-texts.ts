import { parseStoreText } from "../../contract/target.js";
import { groups } from "../../targets/groups.js";
import { parseLimiterText, withLimiters, withNodes, withStoreVersions } from "../../targets/resolve.js";
import type { Request } from "./request.js";

/**
 * The texts of the requested targets: groups are expanded, and limiters, versions of stores and Nodes
 * combined with each target.
 */
export function targetTexts({
  clients,
  limiters,
  storeVersions,
  nodes,
}: Pick<Request, "clients" | "limiters" | "storeVersions" | "nodes">): string[] {
  const named = limiters.map(parseLimiterText);
  const versions = storeVersions.map(parseStoreText);
  return clients
    .flatMap((word) => groups[word] ?? [word])
    .flatMap((text) => withLimiters(text, named))
    .flatMap((text) => withStoreVersions(text, versions))
    .flatMap((text) => withNodes(text, nodes));
}
