import { type Command, Option } from "commander";
import type { ReportCommand } from "../../contract/report-commands.js";
import { meaningOf } from "./help.js";

/** Adds the flags of a command that Python carries out. Python puts the defaults in: here a flag that is missing is absent. */
export function addReportFlags(command: Command, { flags }: ReportCommand): Command {
  for (const { name, value, choices, ...meaning } of flags) {
    const option = new Option(value ? `--${name} ${value}` : `--${name}`, meaningOf(meaning));
    command.addOption(choices ? option.choices([...choices]) : option);
  }
  return command;
}
