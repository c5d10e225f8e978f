#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { BenchError, EXIT, type ExitCode, messageOf, usageError } from "../contract/errors.js";
import { runProgram } from "../contract/program.js";
import { nearest } from "../targets/nearest.js";
import { Aborted } from "./abort.js";
import { parseCampaign } from "./args.js";
import { runCampaign } from "./campaign.js";
import { preview, previewLines } from "./dry-run.js";
import { Journal } from "./journal.js";
import type { Request } from "./request.js";
import { openScreen } from "./screen/index.js";
import { parseSingle } from "./single.js";
import { reclaimOrphans } from "./state.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
const COMMANDS = ["run", "single", "clean"];

/** Ctrl-C, SIGTERM and a closed terminal end the campaign in order; a second one ends this process at once. */
function interruption(journal: Journal): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      const reason = new Aborted(signal);
      if (controller.signal.aborted) {
        journal.end(reason.exitCode, "ended at once");
        process.stderr.write("ended at once; remove what is left with: ratelimit-bench clean\n");
        process.exit(reason.exitCode);
      }
      journal.warn("stopping: giving back what was started (again to end at once)");
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
  const journal = new Journal(
    openScreen(request.telling, { out: process.stdout, err: process.stderr }, process.env),
  );
  // Whatever ends this process: the terminal gets its cursor back.
  process.once("exit", () => journal.close());
  try {
    const exitCode = await runCampaign(request, packageFolder, journal, interruption(journal));
    journal.end(exitCode);
    return exitCode;
  } catch (error) {
    if (error instanceof Aborted) {
      journal.warn(`${error.message}; what was measured is kept`);
      journal.end(error.exitCode, error.message);
      return error.exitCode;
    }
    journal.end(error instanceof BenchError ? error.exitCode : EXIT.defect, messageOf(error));
    throw error;
  }
}

async function main(): Promise<ExitCode> {
  const [command, ...argv] = process.argv.slice(2);
  switch (command) {
    case "run": {
      const request = parseCampaign(argv, process.env);
      return request ? campaign(request) : EXIT.done;
    }
    case "single":
      if (argv.length > 0)
        throw usageError(`unexpected ${argv[0]}: a single run is set by environment variables`);
      return campaign(parseSingle(process.env));
    case "clean": {
      const told = await reclaimOrphans(true);
      process.stdout.write(told.length > 0 ? `${told.join("\n")}\n` : "nothing was left behind\n");
      return EXIT.done;
    }
    default:
      throw usageError(
        `there is no command ${JSON.stringify(command ?? "")}${nearest(command ?? "", COMMANDS)}`,
      );
  }
}

// Whoever reads may go away (`run-all.sh … | head`): that must not leave a store and a server behind.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});

runProgram(main);
