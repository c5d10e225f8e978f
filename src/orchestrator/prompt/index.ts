import type { Environment } from "../../contract/env.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { canAsk } from "../ui/tty.js";
import { plainPrompts, requireTerminal } from "./legacy.js";

/**
 * What the user wants: from the flags, or asked for on a terminal where there are none.
 * @returns undefined when help was asked for and has been printed
 * @throws usageError; environmentError where no answer would lead to a campaign; Cancelled
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
  const [{ menu, requireReady }, { ClackPrompter }, { Keyboard }, { intro, outro }] = await Promise.all([
    import("./menu.js"),
    import("./clack-prompter.js"),
    import("./keyboard.js"),
    import("@clack/prompts"),
  ]);
  const keyboard = new Keyboard();
  try {
    const prompter = new ClackPrompter(keyboard);
    await keyboard.unlessCancelled(
      prompter.during("looking at this machine", requireReady(env, packageFolder)),
    );
    intro("ratelimit-bench – Enter takes what is marked, Esc goes back, Ctrl-C cancels");
    const request = await keyboard.unlessCancelled(menu(prompter, env, packageFolder));
    outro("starting");
    return request;
  } finally {
    keyboard.close();
  }
}
