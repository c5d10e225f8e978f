import {
  formatTargetText,
  parsePart,
  parseTargetText,
  type VersionedId,
} from "../contract/target.js";
import { definedOnly } from "../kit/defined-only.js";
import { requireKnown } from "./did-you-mean.js";
import { findClient, findFramework, findStore } from "./find-description.js";
import { DEFAULT_FRAMEWORK, frameworks } from "./frameworks.js";
import { limiters } from "./limiters/index.js";
import { nodeVersionOf } from "./options.js";
import { resolveTarget } from "./resolve.js";
import { stores } from "./stores/index.js";

/**
 * The ids of the limiters that a target can name. The limiter of a store comes with the
 * store.
 */
export const limiterNames = (): string[] =>
  limiters
    .filter(({ package: npmPackage, applyTo }) => npmPackage !== undefined || applyTo !== undefined)
    .map(({ id }) => id)
    .filter((id) => !stores.some(({ limiter }) => limiter === id));

/** Reads `name[~version]`. @throws usageError for an unknown limiter */
export function parseLimiterText(text: string): VersionedId {
  const requested = parsePart("limiter", text);
  requireKnown("limiter", requested.id, limiterNames());
  return requested;
}

/**
 * The target in each version of Node. A target that names a version is kept.
 * @throws usageError
 */
export function withNodes(text: string, versions: readonly string[]): string[] {
  const target = parseTargetText(text);
  if (versions.length === 0 || nodeVersionOf(target.options.map(({ id }) => id))) return [text];
  return versions.map((version) =>
    formatTargetText({ ...target, options: [...target.options, { id: `node-${version}` }] }),
  );
}

/**
 * The target on each version of its stores. A target that names a version is kept.
 * @throws usageError
 */
export function withStoreVersions(text: string, versions: readonly VersionedId[]): string[] {
  const target = parseTargetText(text);
  if (target.storeVersion) return [text];
  const usable = versions
    .filter(({ id }) => target.store === undefined || target.store === id)
    .map(({ id, version }) => {
      const store = definedOnly({ store: id, storeVersion: version });
      return formatTargetText({ ...target, ...store });
    })
    .filter((variant) => !("skip" in resolveTarget(variant)));
  return usable.length > 0 ? usable : [text];
}

/**
 * The target with each limiter. A target that has a limiter, or takes no other, is kept.
 * @throws usageError
 */
export function withLimiters(text: string, requested: readonly VersionedId[]): string[] {
  const target = parseTargetText(text);
  const isNamed = target.options.some(({ id }) => limiters.some((limiter) => limiter.id === id));
  const storeLimiter = target.store ? findStore(target.store).limiter : undefined;
  const isFixed = !limiterNames().includes(storeLimiter ?? findClient(target.client).limiter);
  if (requested.length === 0 || isNamed || isFixed) return [text];
  return requested.map((limiter) =>
    formatTargetText({ ...target, options: [...target.options, limiter] }),
  );
}

/**
 * The target on each framework. A target that names a framework is kept.
 * @throws usageError
 */
export function withFrameworks(text: string, requested: readonly string[]): string[] {
  const ids = requested.map((id) => findFramework(id).id);
  const target = parseTargetText(text);
  const isNamed = target.options.some(({ id }) =>
    frameworks.some((framework) => framework.id === id),
  );
  if (ids.length === 0 || isNamed) return [text];
  return ids.map((id) =>
    id === DEFAULT_FRAMEWORK
      ? text
      : formatTargetText({ ...target, options: [...target.options, { id }] }),
  );
}
