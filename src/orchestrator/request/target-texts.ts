import { parseStoreText } from "../../contract/target.js";
import { groups } from "../../targets/groups.js";
import {
  parseLimiterText,
  withFrameworks,
  withLimiters,
  withNodes,
  withStoreVersions,
} from "../../targets/resolve.js";
import type { Request } from "./request.js";

/** All requested targets: groups expanded, with each limiter, version, Node and framework. */
export function targetTexts({
  clients,
  limiters,
  storeVersions,
  nodes,
  frameworks,
}: Pick<Request, "clients" | "limiters" | "storeVersions" | "nodes" | "frameworks">): string[] {
  const named = limiters.map(parseLimiterText);
  const versions = storeVersions.map(parseStoreText);
  return clients
    .flatMap((word) => groups[word] ?? [word])
    .flatMap((text) => withLimiters(text, named))
    .flatMap((text) => withStoreVersions(text, versions))
    .flatMap((text) => withNodes(text, nodes))
    .flatMap((text) => withFrameworks(text, frameworks));
}
