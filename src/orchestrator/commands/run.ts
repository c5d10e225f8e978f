import { EXIT } from "../../contract/errors.js";
import { requestFrom } from "../prompt/index.js";
import { campaignCommand } from "../request/flags.js";
import type { CliCommand } from "./types.js";

export const run: CliCommand = {
  name: "run",
  definition: () => campaignCommand(),
  async run(argv, { env, campaign, packageFolder }) {
    const request = await requestFrom(argv, env, packageFolder);
    return request ? (await campaign(request)).exitCode : EXIT.done;
  },
};
