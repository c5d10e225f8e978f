import type { Command } from "commander";
import type { ReportCommand } from "../../contract/report-commands.js";
import { optionOf } from "./flags.js";

/**
 * Adds the flags of a command that Python carries out. A missing flag stays absent, because Python
 * knows the defaults.
 */
export function addReportFlags(command: Command, { flags }: ReportCommand): Command {
  for (const { name, choices, ...flag } of flags) {
    const option = optionOf({ key: name, ...flag });
    command.addOption(choices ? option.choices([...choices]) : option);
  }
  return command;
}
