import { EXIT, usageError } from "../../contract/errors.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { helpTable } from "../request/help.js";
import { parseSingle, SINGLE_VARIABLES } from "../request/single-run.js";
import type { CliCommand } from "./types.js";

export const definition = () =>
  createCommand("ratelimit-bench single")
    .description("Measures one configuration, set by environment variables.")
    .configureHelp({
      formatHelp: (command) =>
        [
          `Usage: ${command.name()}`,
          "",
          command.description(),
          "",
          "Variables:",
          ...helpTable(Object.entries(SINGLE_VARIABLES)),
          "",
        ].join("\n"),
    });

export const single: CliCommand = {
  name: "single",
  definition,
  async run(argv, { env, campaign }) {
    const unexpected = argv.find((arg) => arg !== "--help" && arg !== "-h");
    if (unexpected)
      throw usageError(`unexpected ${unexpected}: a single run is set by environment variables`);
    return parseCommandLine(definition(), argv) ? (await campaign(parseSingle(env))).exitCode : EXIT.done;
  },
};
