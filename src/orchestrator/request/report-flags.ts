import type { Command } from "commander";
import type { ReportCommand } from "../../contract/report-commands.js";
import { optionOf } from "./flags.js";

/**
 * Adds the flags of a command that Python carries out. Python puts the defaults in: here a flag
 * that is missing is absent.
 */
export function addReportFlags(command: Command, { flags }: ReportCommand): Command {
  for (const { name, choices, ...flag } of flags) {
    const option = optionOf({ key: name, ...flag });
    command.addOption(choices ? option.choices([...choices]) : option);
  }
  return command;
}
