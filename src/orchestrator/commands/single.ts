import { EXIT, usageError } from "../../contract/errors.js";
import { INHERITED } from "../args.js";
import { parseSingle, SINGLE_VARIABLES } from "../single.js";
import { parsed, quietCommand } from "./parse.js";
import type { CliCommand } from "./types.js";

const definition = () =>
  quietCommand("single")
    .description("Measures one configuration, set by environment variables.")
    .addHelpText(
      "after",
      `\nVariables: ${[...SINGLE_VARIABLES, ...INHERITED, "STORE_URL", "STORE_CA"].join(", ")}`,
    );

export const single: CliCommand = {
  name: "single",
  definition,
  async run(argv, { env, campaign }) {
    const word = argv.find((given) => given !== "--help" && given !== "-h");
    if (word) throw usageError(`unexpected ${word}: a single run is set by environment variables`);
    return parsed(definition(), argv) ? (await campaign(parseSingle(env))).exitCode : EXIT.done;
  },
};
