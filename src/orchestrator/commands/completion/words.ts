import type { Command, Option } from "commander";
import { SETTINGS } from "../../request/settings.js";
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

/** What may follow flags whose commander option does not list its choices. */
export const VALUES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  SETTINGS.flatMap(({ key, choices }) =>
    choices ? [[`--${key}`, choices().map(({ value }) => value)]] : [],
  ),
);

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
