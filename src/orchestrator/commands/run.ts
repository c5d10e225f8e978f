import { EXIT } from "../../contract/errors.js";
import { checks } from "../audit/checks/index.js";
import { requestFrom } from "../prompt/index.js";
import { campaignCommand } from "../request/flags.js";
import { checkPromises } from "./audit.js";
import type { CliCommand } from "./types.js";

export const run: CliCommand = {
  name: "run",
  definition: () => campaignCommand(),
  async run(argv, { env, campaign, audit, print, packageFolder }) {
    const request = await requestFrom(argv, env, packageFolder);
    if (!request) return EXIT.done;
    if (request.audit) return checkPromises(request, checks, "table", { runAudit: audit, print });
    return (await campaign(request)).exitCode;
  },
};
