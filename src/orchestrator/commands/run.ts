import { EXIT } from "../../contract/errors.js";
import { campaignCommand } from "../flags.js";
import { findMaxRates } from "../max-rate/find.js";
import { requestFrom } from "../prompt/index.js";
import type { CliCommand } from "./types.js";

export const run: CliCommand = {
  name: "run",
  definition: () => campaignCommand(),
  async run(argv, { env, campaign, packageFolder, print }) {
    const request = await requestFrom(argv, env, packageFolder);
    if (!request) return EXIT.done;
    if (!request.objectives) return campaign(request);
    return findMaxRates(request, request.objectives, campaign, print);
  },
};
