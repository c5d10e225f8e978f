import { EXIT } from "../../contract/errors.js";
import { reclaimOrphans } from "../state.js";
import { parsed, quietCommand } from "./parse.js";
import type { CliCommand } from "./types.js";

const definition = () =>
  quietCommand("clean").description("Removes what campaigns left behind whose process died.");

export const clean: CliCommand = {
  name: "clean",
  definition,
  async run(argv, { print }) {
    if (!parsed(definition(), argv)) return EXIT.done;
    const told = await reclaimOrphans(true);
    print(told.length > 0 ? told.join("\n") : "nothing was left behind");
    return EXIT.done;
  },
};
