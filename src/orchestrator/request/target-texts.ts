import { parseStoreText } from "../../contract/target.js";
import { groups } from "../../targets/target-groups.js";
import {
  parseLimiterText,
  withFrameworks,
  withLimiters,
  withNodes,
  withStoreVersions,
} from "../../targets/target-variants.js";
import type { RequestedTargets } from "./request.js";

/** The texts of all requested targets, with each limiter, version, Node and framework. */
export function targetTexts(targets: RequestedTargets): string[] {
  const { clients, limiters, storeVersions, nodes, frameworks } = targets;
  const limiterTexts = limiters.map(parseLimiterText);
  const versions = storeVersions.map(parseStoreText);
  return clients
    .flatMap((word) => groups[word] ?? [word])
    .flatMap((text) => withLimiters(text, limiterTexts))
    .flatMap((text) => withStoreVersions(text, versions))
    .flatMap((text) => withNodes(text, nodes))
    .flatMap((text) => withFrameworks(text, frameworks));
}
