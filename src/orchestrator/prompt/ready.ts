import type { Environment } from "../../contract/env.js";
import { environmentError } from "../../contract/errors.js";
import { requireResultsRoot } from "../files/results-folder.js";
import { checkText, examine } from "../host/doctor.js";
import { refuseIfLocked } from "../ownership/state-folder.js";
import { parseCampaign } from "../request/parse-request.js";
import { FIRST_ANSWERS, wordsOf } from "./answers.js";

/**
 * What would refuse every campaign, whatever is answered, is said before anything is asked.
 * @throws usageError for a wrong variable; environmentError for another campaign, or a machine that is not fit
 */
export async function requireReady(env: Environment, packageFolder: string): Promise<void> {
  const request = parseCampaign(wordsOf(FIRST_ANSWERS), env);
  if (!request) throw new Error("the first answers ask for help");
  await refuseIfLocked();
  await requireResultsRoot(request.output);
  const failed = (await examine("auto", packageFolder)).filter(({ status }) => status === "fail");
  if (failed.length > 0)
    throw environmentError(`no campaign can start on this machine: ${failed.map(checkText).join("; ")}`);
}
