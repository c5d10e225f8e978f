import { type AskedPart, formatTargetText, parsePart, parseTargetText } from "../../contract/target.js";
import { known } from "../nearest.js";
import { findClient } from "../resolve.js";
import { limiters } from "./index.js";

/** Those that can be asked for by name: what has no package decides nothing. */
export const namedLimiters = (): string[] => limiters.flatMap((each) => (each.package ? [each.id] : []));

/** A limiter as it is asked for: `name[~version]`. @throws usageError for what is none */
export function limiterNamed(text: string): AskedPart {
  const asked = parsePart("limiter", text);
  known("limiter", asked.id, namedLimiters());
  return asked;
}

/**
 * A target once with each of these limiters. One that names its limiter keeps it, and so does one without any.
 * @throws usageError when it is not a target
 */
export function withLimiters(text: string, asked: readonly AskedPart[]): string[] {
  const target = parseTargetText(text);
  const isNamed = target.options.some(({ id }) => limiters.some((limiter) => limiter.id === id));
  if (asked.length === 0 || isNamed || findClient(target.client).limiter === "none") return [text];
  return asked.map((limiter) => formatTargetText({ ...target, options: [...target.options, limiter] }));
}
