#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { EXIT, type ExitCode, usageError } from "../contract/errors.js";
import { runProgram } from "../contract/program.js";
import { nearest } from "../targets/nearest.js";
import { Aborted } from "./abort.js";
import { runCampaign } from "./campaign.js";
import { clean } from "./clean.js";
import { preview, previewLines } from "./dry-run.js";
import { Journal } from "./journal.js";
import { requestFrom } from "./prompt/index.js";
import type { Request } from "./request.js";
import { parseSingle } from "./single.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
const COMMANDS = ["run", "single", "clean"];

/** Ctrl-C, SIGTERM and a closed terminal end the campaign in order; a second one ends this process at once. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      const reason = new Aborted(signal);
      if (controller.signal.aborted) {
        process.stderr.write("ended at once; remove what is left with: ratelimit-bench clean\n");
        process.exit(reason.exitCode);
      }
      process.stderr.write("stopping: giving back what was started (again to end at once)\n");
      controller.abort(reason);
    });
  }
  return controller.signal;
}

async function campaign(request: Request): Promise<ExitCode> {
  if (request.dryRun) {
    const found = await preview(request, packageFolder);
    const isJson = request.telling.format === "json";
    process.stdout.write(
      isJson ? `${JSON.stringify(found, null, 2)}\n` : `${previewLines(found).join("\n")}\n`,
    );
    return EXIT.done;
  }
  try {
    return await runCampaign(request, { packageFolder, journal: new Journal(), signal: interruption() });
  } catch (error) {
    if (!(error instanceof Aborted)) throw error;
    process.stderr.write(`${error.message}; what was measured is kept; go on with --resume\n`);
    return error.exitCode;
  }
}

async function main(): Promise<ExitCode> {
  const [command, ...argv] = process.argv.slice(2);
  switch (command) {
    case "run": {
      const request = await requestFrom(argv, process.env, packageFolder);
      return request ? campaign(request) : EXIT.done;
    }
    case "single":
      if (argv.length > 0)
        throw usageError(`unexpected ${argv[0]}: a single run is set by environment variables`);
      return campaign(parseSingle(process.env));
    case "clean":
      return clean(argv, packageFolder);
    default:
      throw usageError(
        `there is no command ${JSON.stringify(command ?? "")}${nearest(command ?? "", COMMANDS)}`,
      );
  }
}

// Whoever reads may go away (`run-all.sh … | head`): that must not leave a store and a server behind.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

runProgram(main);
