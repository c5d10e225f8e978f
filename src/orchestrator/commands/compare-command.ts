import { reportCommands } from "../../contract/report-commands.js";
import { runPython } from "../host/python.js";
import { createCommand } from "../request/command-line.js";
import { addReportFlags } from "../request/report-flags.js";
import { parsedCommand } from "./command-types.js";

function definition() {
  const { description, after } = reportCommands.compare;
  const command = createCommand("ratelimit-bench compare")
    .description(description)
    .argument("[base]", "base of the comparison: TARGET, DIR#TARGET or DIR")
    .argument("[new]", "what is compared with the base: TARGET, DIR#TARGET or DIR");
  return addReportFlags(command, reportCommands.compare).addHelpText("after", after);
}

/** Python compares, because it has all statistics. */
export const compare = parsedCommand("compare", definition, (_command, { packageFolder }, argv) =>
  runPython(packageFolder, "compare", argv),
);
