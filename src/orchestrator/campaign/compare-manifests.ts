import { canonicalJson } from "../../contract/configuration.js";
import {
  type CampaignMachine,
  MACHINE_KEY,
  type Machine,
  type Manifest,
} from "../../contract/manifest.js";
import type { TraceSummary } from "../../contract/plugins.js";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError } from "../../kit/errors.js";

/** The members of a manifest that must be equal before and after an interruption. */
const MUST_MATCH = [
  "harness",
  "libraries",
  "runtime",
  "engine",
  "images",
  "stores",
  "modules",
  "apps",
  "plugins",
  "versions",
  "generator",
] as const;

/** Sentences on what makes two sessions of a campaign incomparable. */
export function differences(before: Manifest, now: Manifest): string[] {
  const settledBefore = settledIn(before);
  const settledNow = settledIn(now);
  return [
    ...traceDifference(before, now),
    ...MUST_MATCH.flatMap((member) =>
      differencesOf(member, settledBefore[member], settledNow[member]),
    ),
    ...machineDifferences("machine", before.machine, now.machine),
    ...machinesDifferences(before.machines ?? [], now.machines ?? []),
  ];
}

const traceIn = ({ plugins = [] }: Manifest): TraceSummary | undefined =>
  plugins.find(({ trace }) => trace)?.trace;

/**
 * The difference of the traces. A log grows while its service runs, and then a resumed campaign
 * would have other requests.
 */
function traceDifference(before: Manifest, now: Manifest): string[] {
  const oldTrace = traceIn(before);
  const newTrace = traceIn(now);
  if (!oldTrace || !newTrace || oldTrace.sha256 === newTrace.sha256) return [];
  return [
    `the file of --trace has changed, from ${oldTrace.lines} requests to ${newTrace.lines}: give it as it was`,
  ];
}

/**
 * The members of a manifest without what a restart may change, without the paths of programs, and
 * without the trace, which is compared by itself.
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
 * The differences in the key of a machine. A member that one side does not know, e.g. because an
 * older version wrote it, is no difference.
 */
function machineDifferences(path: string, before: MachineKey, now: MachineKey): string[] {
  return MACHINE_KEY.flatMap((member) => {
    const oldValue = before[member];
    const newValue = now[member];
    if (oldValue === undefined || newValue === undefined) return [];
    return differencesOf(`${path}.${member}`, oldValue, newValue);
  });
}

type MachineKey = { [Member in (typeof MACHINE_KEY)[number]]?: Machine[Member] | undefined };

function machinesDifferences(
  before: readonly CampaignMachine[],
  now: readonly CampaignMachine[],
): string[] {
  const names = [...new Set([...before, ...now].map(({ name }) => name))];
  return names.flatMap((name) => {
    const oldMachine = before.find((machine) => machine.name === name);
    const newMachine = now.find((machine) => machine.name === name);
    const path = `machines.${name}`;
    if (oldMachine?.facts && newMachine?.facts)
      return machineDifferences(path, oldMachine.facts, newMachine.facts);
    // Without its properties only what the runtime says of a machine can be compared.
    if (oldMachine && newMachine) return machineDifferences(path, oldMachine, newMachine);

    const presence = (machine: CampaignMachine | undefined) => (machine ? "there" : "absent");
    return [`machines.${name} was ${presence(oldMachine)}, is ${presence(newMachine)}`];
  });
}

/** The differences between two values, with the path of each. */
function differencesOf(path: string, before: unknown, now: unknown): string[] {
  if (isRecord(before) && isRecord(now)) {
    const members = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return members.flatMap((member) =>
      differencesOf(`${path}.${member}`, before[member], now[member]),
    );
  }

  const textOf = (value: unknown): string =>
    value === undefined ? "absent" : canonicalJson(value);
  const oldText = textOf(before);
  const newText = textOf(now);
  return oldText === newText ? [] : [`${path} was ${oldText}, is ${newText}`];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @throws environmentError where a campaign cannot be resumed, with all differences */
export function requireComparable(before: Manifest, now: Manifest): void {
  const changes = differences(before, now);
  if (changes.length === 0) return;
  throw environmentError(
    `${before.campaign} cannot be resumed, since its rows would not be comparable: ${changes.join("; ")}; start a new campaign`,
  );
}
