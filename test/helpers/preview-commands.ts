import { text } from "node:stream/consumers";
import { dryRunExitCode, previewCampaign } from "../../src/orchestrator/campaign/dry-run.js";
import { type Invocation, type PlannedCommand, planCommand } from "./plan-commands.js";

/**
 * Makes the dry runs of the commands on standard input, and prints how each ended, as JSON. The
 * argument is the folder of the package.
 */
const [packageFolder = ""] = process.argv.slice(2);
const invocations: Invocation[] = JSON.parse(await text(process.stdin));
const ended: PlannedCommand[] = [];
for (const invocation of invocations) {
  ended.push(
    await planCommand(invocation, packageFolder, async (request) => ({
      exitCode: dryRunExitCode(await previewCampaign(request, packageFolder)),
    })),
  );
}
process.stdout.write(JSON.stringify(ended));
