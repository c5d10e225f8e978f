import { EXIT } from "../../contract/errors.js";
import { dryRunExitCode } from "../campaign/dry-run.js";
import { findMaxRates } from "../max-rate/find.js";
import { previewSearch, searchLines } from "../max-rate/search-preview.js";
import { requestFrom } from "../prompt/index.js";
import { campaignCommand } from "../request/flags.js";
import type { CliCommand } from "./types.js";

export const run: CliCommand = {
  name: "run",
  definition: () => campaignCommand(),
  async run(argv, { env, campaign, packageFolder, print }) {
    const request = await requestFrom(argv, env, packageFolder);
    if (!request) return EXIT.done;
    if (!request.objectives) return (await campaign(request)).exitCode;
    if (request.dryRun) {
      const found = await previewSearch(request, request.objectives, packageFolder);
      const isJson = request.outputMode.format === "json";
      print(isJson ? JSON.stringify(found, null, 2) : searchLines(found).join("\n"));
      return dryRunExitCode(found);
    }
    return findMaxRates(request, request.objectives, campaign, print);
  },
};
