import { canonicalJson } from "../../contract/configuration.js";
import { environmentError } from "../../contract/errors.js";
import type { Manifest } from "../../contract/manifest.js";

/** The members of a manifest that must be the same before and after an interruption. */
const MUST_MATCH = [
  "harness",
  "libraries",
  "machine",
  "machines",
  "runtime",
  "engine",
  "images",
  "stores",
  "modules",
  "plugins",
  "versions",
  "generator",
] as const;

export function differences(before: Manifest, now: Manifest): string[] {
  const [was, is] = [before, now].map(({ machines = [], ...others }) => ({
    ...others,
    machines: Object.fromEntries(machines.map((machine) => [machine.name, machine])),
  }));
  return MUST_MATCH.flatMap((member) => compared(member, was?.[member], is?.[member]));
}

/** Measured anew by each session. */
const MEASURED = ".index_ms";

function compared(path: string, before: unknown, now: unknown): string[] {
  if (path.endsWith(MEASURED)) return [];
  if (isRecord(before) && isRecord(now)) {
    const members = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return members.flatMap((member) => compared(`${path}.${member}`, before[member], now[member]));
  }
  const [was, is] = [before, now].map((value) => (value === undefined ? "absent" : canonicalJson(value)));
  return was === is ? [] : [`${path} was ${was}, is ${is}`];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function requireComparable(before: Manifest, now: Manifest): void {
  const changes = differences(before, now);
  if (changes.length === 0) return;
  throw environmentError(
    `${before.campaign} cannot be resumed, since its rows would not be comparable: ${changes.join("; ")}; start a new campaign`,
  );
}
