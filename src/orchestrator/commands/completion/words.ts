import type { Command, Option } from "commander";
import { arrivalsSchema } from "../../../contract/configuration.js";
import { runtimes } from "../../../runtimes/index.js";
import { clients } from "../../../targets/clients/index.js";
import { groups } from "../../../targets/groups.js";
import { namedLimiters } from "../../../targets/limiters/named.js";
import { profiles } from "../../../traffic/profiles/index.js";
import { workloads } from "../../../traffic/workloads.js";
import { PRESETS } from "../../settings/presets.js";
import { progressModes } from "../../settings/telling.js";
import type { CliCommand } from "../types.js";

/** A flag, and what may follow it. */
export interface CompletionFlag {
  name: string;
  summary: string;
  /** Absent for a switch. */
  placeholder?: string;
  /** Whether the value may be left out. */
  optional?: boolean;
  /** Words that may stand in its value; several are separated by commas where the flag takes a list. */
  values: readonly string[];
  /** Whether the value is a path. */
  isPath: boolean;
}

export interface CompletionCommand {
  name: string;
  summary: string;
  /** Words that may follow the command. */
  words: readonly string[];
  /** Whether paths may follow it. */
  takesPaths: boolean;
  flags: readonly CompletionFlag[];
}

/** Each client as it may be asked for: alone, on its other stores, in its other topologies. */
const targets = clients.flatMap(({ id, stores, topologies }) =>
  [id, ...stores.slice(1).map((store) => `${id}@${store}`)].flatMap((text) => [
    text,
    ...topologies.slice(1).map((topology) => `${text}:${topology}`),
  ]),
);

const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);

/** What may follow flags whose commander option does not list its choices. */
export const VALUES: Readonly<Record<string, readonly string[]>> = {
  "--clients": [...Object.keys(groups), ...targets],
  "--limiter": namedLimiters(),
  "--workload": [...ids(workloads), "both"],
  "--traffic": ids(profiles),
  "--runtime": ["auto", ...ids(runtimes)],
  "--order": ["interleaved", "consecutive"],
  "--preset": ids(PRESETS),
  "--arrivals": arrivalsSchema.options,
  "--progress": progressModes,
  "--duration-mode": ["dynamic", "fixed30", "fixed120", "custom:"],
};

const PATHS = /^(dir|file|path|folder|campaign)/i;

function flagOf({ long, flags, description, argChoices }: Option): CompletionFlag[] {
  if (!long) return [];
  const [, bracket, placeholder] = /([<[])(.+)[>\]]$/.exec(flags) ?? [];
  return [
    {
      name: long,
      summary: description,
      ...(placeholder ? { placeholder, optional: bracket === "[" } : {}),
      values: placeholder ? (argChoices ?? VALUES[long] ?? []) : [],
      isPath: placeholder !== undefined && PATHS.test(placeholder),
    },
  ];
}

function describe(name: string, command: Command): CompletionCommand {
  return {
    name,
    summary: command.description(),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesPaths: command.registeredArguments.some((argument) => PATHS.test(argument.name())),
    flags: [
      ...command.options.filter(({ hidden }) => !hidden).flatMap(flagOf),
      { name: "--help", summary: "display help for command", values: [], isPath: false },
    ],
  };
}

/** All that can be completed, read from the commands' own definitions. */
export const completionOf = (commands: readonly CliCommand[]): CompletionCommand[] =>
  commands.map((command) => describe(command.name, command.definition({ commands })));
