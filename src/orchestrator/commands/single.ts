import { EXIT, usageError } from "../../contract/errors.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { parseSingle, SINGLE_VARIABLES } from "../request/single-run.js";
import { wrap } from "../ui/text.js";
import type { CliCommand } from "./types.js";

const COLUMNS = 80;

/** One entry per variable, wrapped for a small terminal. */
function variableLines(): string[] {
  const entries = Object.entries(SINGLE_VARIABLES);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.flatMap(([name, help]) =>
    wrap(`  ${name.padEnd(width)}  ${help}`, COLUMNS, " ".repeat(width + 2)),
  );
}

const definition = () =>
  createCommand("ratelimit-bench single")
    .description("Measures one configuration, set by environment variables.")
    .addHelpText("after", () => ["", "Variables:", ...variableLines()].join("\n"));

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
