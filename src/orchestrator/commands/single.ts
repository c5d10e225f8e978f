import { EXIT, usageError } from "../../contract/errors.js";
import { createCommand, parseCommandLine } from "../request/command-line.js";
import { parseSingle, SINGLE_VARIABLES } from "../request/single.js";
import { wrap } from "../ui/text.js";
import type { CliCommand } from "./types.js";

const COLUMNS = 80;

/** A line a variable, its meaning beside it; none is wider than a small terminal. */
function variableLines(): string[] {
  const all = Object.entries(SINGLE_VARIABLES);
  const width = Math.max(...all.map(([name]) => name.length));
  return all.flatMap(([name, help]) =>
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
    const word = argv.find((given) => given !== "--help" && given !== "-h");
    if (word) throw usageError(`unexpected ${word}: a single run is set by environment variables`);
    return parseCommandLine(definition(), argv) ? (await campaign(parseSingle(env))).exitCode : EXIT.done;
  },
};
