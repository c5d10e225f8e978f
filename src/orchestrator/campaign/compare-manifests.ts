import { canonicalJson } from "../../contract/configuration.js";
import {
  type CampaignMachine,
  MACHINE_KEY,
  type Machine,
  type Manifest,
} from "../../contract/manifest.js";
import type { TraceFacts } from "../../contract/plugins.js";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError } from "../../kit/errors.js";

/** The members of a manifest that must be the same before and after an interruption. */
const MUST_MATCH = [
  "harness",
  "libraries",
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
  const was = settledIn(before);
  const is = settledIn(now);
  return [
    ...traceDifference(before, now),
    ...MUST_MATCH.flatMap((member) => compared(member, was[member], is[member])),
    ...machineDifferences("machine", before.machine, now.machine),
    ...machinesDifferences(before.machines ?? [], now.machines ?? []),
  ];
}

const traceIn = ({ plugins = [] }: Manifest): TraceFacts | undefined =>
  plugins.find(({ trace }) => trace)?.trace;

/** A log grows while its service runs: then a resumed campaign would have other requests. */
function traceDifference(before: Manifest, now: Manifest): string[] {
  const was = traceIn(before);
  const is = traceIn(now);
  if (!was || !is || was.sha256 === is.sha256) return [];
  return [
    `the file of --trace has changed, from ${was.lines} requests to ${is.lines}: give it as it was`,
  ];
}

/**
 * The members without what a restart may change, where a program lies, and the trace, which is
 * compared by itself.
 */
function settledIn({ engine, stores, plugins, ...others }: Manifest) {
  const { memory_bytes: _, ...settledEngine } = engine ?? {};
  const versions = Object.entries(stores).map(([id, { path: __, ...store }]) => [id, store]);
  return {
    ...others,
    ...definedOnly({ plugins: plugins?.filter(({ trace }) => !trace) }),
    stores: Object.fromEntries(versions),
    engine: engine ? settledEngine : undefined,
  };
}

/**
 * Compares the keys of machines. What one side does not know, e.g. because an older version wrote
 * it, is no difference.
 */
function machineDifferences(path: string, before: MachineKey, now: MachineKey): string[] {
  return MACHINE_KEY.flatMap((member) => {
    const was = before[member];
    const is = now[member];
    if (was === undefined || is === undefined) return [];
    return compared(`${path}.${member}`, was, is);
  });
}

type MachineKey = { [Member in (typeof MACHINE_KEY)[number]]?: Machine[Member] | undefined };

function machinesDifferences(
  before: readonly CampaignMachine[],
  now: readonly CampaignMachine[],
): string[] {
  const names = [...new Set([...before, ...now].map(({ name }) => name))];
  return names.flatMap((name) => {
    const was = before.find((machine) => machine.name === name);
    const is = now.find((machine) => machine.name === name);
    const path = `machines.${name}`;
    if (was?.facts && is?.facts) return machineDifferences(path, was.facts, is.facts);
    // Without its facts a machine is what the runtime says of it.
    if (was && is) return machineDifferences(path, was, is);
    const presence = (machine: CampaignMachine | undefined) => (machine ? "there" : "absent");
    return [`machines.${name} was ${presence(was)}, is ${presence(is)}`];
  });
}

function compared(path: string, before: unknown, now: unknown): string[] {
  if (isRecord(before) && isRecord(now)) {
    const members = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return members.flatMap((member) => compared(`${path}.${member}`, before[member], now[member]));
  }
  const textOf = (value: unknown): string =>
    value === undefined ? "absent" : canonicalJson(value);
  const was = textOf(before);
  const is = textOf(now);
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
