import type { Command, Option } from "commander";
import { SETTINGS } from "../../request/settings.js";
import type { CliCommand } from "../types.js";

export interface CompletionFlag {
  name: string;
  summary: string;
  placeholder?: string;
  optional?: boolean;
  /** Values to offer. A flag that takes a list separates them by commas. */
  values: readonly string[];
  isPath: boolean;
}

export interface CompletionCommand {
  name: string;
  summary: string;
  words: readonly string[];
  takesPaths: boolean;
  flags: readonly CompletionFlag[];
}

/** Choices of the settings, for options that do not list theirs to commander. */
export const SETTING_VALUES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  SETTINGS.flatMap(({ key, choices }) =>
    choices ? [[`--${key}`, choices().map(({ value }) => value)]] : [],
  ),
);

const PATH_PLACEHOLDER = /^(dir|file|path|folder|campaign)/i;

function flagOf({ long, flags, description, argChoices }: Option): CompletionFlag[] {
  if (!long) return [];
  const [, bracket, placeholder] = /([<[])(.+)[>\]]$/.exec(flags) ?? [];
  return [
    {
      name: long,
      summary: description,
      ...(placeholder ? { placeholder, optional: bracket === "[" } : {}),
      values: placeholder ? (argChoices ?? SETTING_VALUES[long] ?? []) : [],
      isPath: placeholder !== undefined && PATH_PLACEHOLDER.test(placeholder),
    },
  ];
}

function describe(name: string, command: Command): CompletionCommand {
  return {
    name,
    summary: command.description(),
    words: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    takesPaths: command.registeredArguments.some((argument) => PATH_PLACEHOLDER.test(argument.name())),
    flags: [
      ...command.options.filter(({ hidden }) => !hidden).flatMap(flagOf),
      { name: "--help", summary: "display help for command", values: [], isPath: false },
    ],
  };
}

/** Commands, flags and values to complete, read from the definitions of the commands. */
export const completionOf = (commands: readonly CliCommand[]): CompletionCommand[] =>
  commands.map((command) => describe(command.name, command.definition({ commands })));
