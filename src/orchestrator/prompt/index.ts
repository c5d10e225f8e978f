import type { Environment } from "../../contract/env.js";
import { parseRunAll } from "../request/original.js";
import type { Request } from "../request/request.js";
import { CAMPAIGN_COMMAND, quoted } from "../ui/command-text.js";
import { isInteractive } from "../ui/tty.js";
import type { MenuAnswers } from "./answers.js";
import { plainPrompts, requireTerminal } from "./legacy.js";
import { Cancelled } from "./prompter.js";

/** The request from flags or menu; undefined after help. @throws usageError; environmentError; Cancelled */
export async function requestFrom(
  argv: readonly string[],
  env: Environment,
  packageFolder: string,
): Promise<Request | undefined> {
  if (argv.includes("--legacy")) {
    requireTerminal();
    return plainPrompts(argv, env);
  }
  if (argv.length > 0 || !isInteractive()) return parseRunAll(argv, env);
  // Imported here because a campaign from flags does not need the menu.
  const [{ argvSoFar }, { menu, requireReady }, { ClackPrompter }, { Keyboard }, { intro, outro }] =
    await Promise.all([
      import("./answers.js"),
      import("./menu.js"),
      import("./clack-prompter.js"),
      import("./keyboard.js"),
      import("@clack/prompts"),
    ]);
  const keyboard = new Keyboard();
  try {
    const prompter = new ClackPrompter(keyboard);
    await keyboard.unlessCancelled(
      prompter.showWhile("checking this machine", requireReady(env, packageFolder)),
    );
    intro("ratelimit-bench – Enter accepts what is marked, Esc goes back, Ctrl-C ends");
    const given: Partial<MenuAnswers> = {};
    const asking = menu(prompter, env, packageFolder, given);
    const request = await keyboard.unlessCancelled(asking).catch((error) => {
      if (!(error instanceof Cancelled)) throw error;
      throw new Cancelled(error.exitCode, [CAMPAIGN_COMMAND, ...argvSoFar(given).map(quoted)].join(" "));
    });
    outro("starting");
    return request;
  } finally {
    keyboard.close();
  }
}
