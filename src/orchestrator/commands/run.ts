import { EXIT } from "../../contract/errors.js";
import { parseCampaign } from "../args.js";
import { campaignCommand } from "../flags.js";
import type { CliCommand } from "./types.js";

export const run: CliCommand = {
  name: "run",
  definition: () => campaignCommand(),
  async run(argv, { env, campaign }) {
    const request = parseCampaign(argv, env);
    return request ? campaign(request) : EXIT.done;
  },
};
