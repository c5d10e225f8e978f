import type { Environment } from "../../contract/env.js";
import { parseCampaign } from "../args.js";
import type { Request } from "../request.js";
import { plainPrompts, requireTerminal } from "./legacy.js";
import { canAsk } from "./terminal.js";

/**
 * What the user wants: from the flags, or asked for on a terminal where there are none.
 * @returns undefined when help was asked for and has been printed
 * @throws usageError; Cancelled
 */
export async function requestFrom(
  argv: readonly string[],
  env: Environment,
  packageFolder: string,
): Promise<Request | undefined> {
  if (argv.includes("--legacy")) {
    requireTerminal();
    return plainPrompts(argv, env);
  }
  if (argv.length > 0 || !canAsk()) return parseCampaign(argv, env);
  // Loaded only here: a campaign by flags does not need it.
  const [{ menu }, { ClackAsker }, { intro, outro }] = await Promise.all([
    import("./menu.js"),
    import("./clack-asker.js"),
    import("@clack/prompts"),
  ]);
  intro("ratelimit-bench – Enter takes what is marked, Esc goes back, Ctrl-C cancels");
  const request = await menu(new ClackAsker(), env, packageFolder);
  outro("starting");
  return request;
}
