import { createInterface } from "node:readline/promises";
import type { RuntimeAccess } from "../../contract/machines.js";
import { CLEAN_COMMAND } from "../../kit/command-text.js";
import { EXIT, environmentError, usageError } from "../../kit/errors.js";
import { runtimesFor } from "../../runtimes/index.js";
import { findLeftovers, removeEach } from "../host/leftovers.js";
import { isAlive } from "../ownership/state-folder.js";
import { readHostsFile } from "../request/access.js";
import { createCommand } from "../request/command-line.js";
import { isInteractive } from "../ui/tty.js";
import { parsedCommand } from "./command-types.js";

const definition = () =>
  createCommand(CLEAN_COMMAND)
    .description("Shows and removes what killed campaigns left behind.")
    .addHelpText(
      "after",
      `
Leftovers are processes, containers, networks, folders and sockets of campaigns whose process died, and images of
earlier versions of this project. They are listed, and removed after you confirm. Running campaigns are not touched.`,
    )
    .option("--yes", "remove without asking")
    .option("--hosts <file>", "also on the Docker engines that this file names")
    .option(
      "--force <host>",
      "give up campaigns of a host that is gone and cannot be checked from here",
    );

export const clean = parsedCommand(
  "clean",
  definition,
  async (command, { packageFolder, print }) => {
    const { yes, hosts, force } = command.opts<{ yes?: boolean; hosts?: string; force?: string }>();
    const access: RuntimeAccess =
      hosts === undefined ? {} : { docker: readHostsFile(hosts, "--hosts") };
    const leftovers = await findLeftovers(true, force);
    for (const runtime of runtimesFor({}))
      leftovers.push(...(await runtime.outdated(packageFolder)));
    for (const runtime of runtimesFor(access).filter(({ reaches }) => reaches && access[reaches])) {
      const answer = await runtime.available();
      if ("unavailableReason" in answer) throw environmentError(answer.unavailableReason);
      leftovers.push(
        ...(await runtime.leftovers(isAlive)),
        ...(await runtime.outdated(packageFolder)),
      );
    }
    if (leftovers.length === 0) {
      print("nothing was left behind");
      return EXIT.done;
    }
    print(["left behind:", ...leftovers.map(({ what }) => `  ${what}`)].join("\n"));
    if (!yes && !(await isConfirmed())) {
      print("nothing was removed");
      return EXIT.done;
    }
    const { removed, failed } = await removeEach(leftovers);
    for (const line of removed) print(line);
    if (failed.length === 0) return EXIT.done;
    for (const line of failed) process.stderr.write(`still there: ${line}\n`);
    return EXIT.environment;
  },
);

async function isConfirmed(): Promise<boolean> {
  if (!isInteractive())
    throw usageError("there is no terminal to confirm on: give --yes to remove all of this");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    // Ctrl-C and Ctrl-D close the input without an answer.
    const closed = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question("Remove all of this? [y/N] "), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
