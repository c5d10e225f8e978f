#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { BenchError, EXIT, type ExitCode, messageOf, usageError } from "../contract/errors.js";
import { runProgram } from "../contract/program.js";
import { type CampaignEnd, runCampaign } from "./campaign/campaign.js";
import { dryRunExitCode, previewCampaign, previewLines } from "./campaign/dry-run.js";
import { findCommand } from "./commands/help.js";
import { commands } from "./commands/index.js";
import type { CliContext } from "./commands/types.js";
import { ForeignLoadCheck } from "./host/foreign-load.js";
import { Aborted } from "./ownership/abort.js";
import type { Request } from "./request/request.js";
import { EventLog } from "./ui/event-log.js";
import { openScreen } from "./ui/open-screen.js";
import { ensureSize } from "./ui/tty.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
/** Flags that stand for a command. */
const ALIASES: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-V": "version",
};

const foreignLoad = new ForeignLoadCheck();

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ctrl-C, SIGTERM and a closed terminal end the campaign in order; a second one ends this process at once.
 * @returns the signal, and what stops listening once the campaign is over: a search runs many
 */
function interruption(eventLog: EventLog): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const handlers = SIGNALS.map((signal) => {
    const handler = () => {
      const reason = new Aborted(signal);
      if (controller.signal.aborted) {
        eventLog.end(reason.exitCode, "ended at once");
        process.stderr.write("ended at once; remove what is left with: ratelimit-bench clean\n");
        process.exit(reason.exitCode);
      }
      eventLog.warn("stopping: giving back what was started (again to end at once)");
      controller.abort(reason);
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  const stop = () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
  };
  return { signal: controller.signal, stop };
}

async function campaign(request: Request): Promise<CampaignEnd> {
  if (request.dryRun) {
    const found = await previewCampaign(request, packageFolder);
    const isJson = request.outputMode.format === "json";
    print(isJson ? JSON.stringify(found, null, 2) : previewLines(found).join("\n"));
    return { exitCode: dryRunExitCode(found) };
  }
  // What a search prints is its own: no report of a trial is announced among it.
  const outputs = { out: request.trial ? { write: () => true } : process.stdout, err: process.stderr };
  const eventLog = new EventLog(openScreen(request.outputMode, outputs, process.env));
  // Whatever ends this process: the terminal gets its cursor back.
  const close = () => eventLog.close();
  process.once("exit", close);
  const { signal, stop } = interruption(eventLog);
  try {
    const exitCode = await runCampaign(request, { packageFolder, eventLog, signal, foreignLoad });
    eventLog.end(exitCode);
    return endOf(exitCode, eventLog);
  } catch (error) {
    if (error instanceof Aborted) {
      // Of a trial nothing is kept that could go on: the search says what it knows.
      if (!request.trial) {
        const kept = eventLog.folder === undefined ? "" : "; what was measured is kept; go on with --resume";
        eventLog.warn(`${error.message}${kept}`);
        eventLog.end(error.exitCode, error.message);
      }
      return endOf(error.exitCode, eventLog);
    }
    eventLog.end(error instanceof BenchError ? error.exitCode : EXIT.defect, messageOf(error));
    throw error;
  } finally {
    stop();
    process.off("exit", close);
    close();
  }
}

const endOf = (exitCode: ExitCode, { folder }: EventLog): CampaignEnd => ({
  exitCode,
  ...(folder === undefined ? {} : { folder }),
});

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(): Promise<ExitCode> {
  const [word, ...argv] = process.argv.slice(2);
  if (word === undefined) {
    const names = commands.map(({ name }) => name).join(", ");
    throw usageError(`a command is missing: give one of ${names}; see ratelimit-bench --help`);
  }
  const context: CliContext = {
    packageFolder,
    env: process.env,
    commands,
    campaign,
    print,
  };
  return findCommand(ALIASES[word] ?? word, commands).run(argv, context);
}

// Whoever reads may go away (`run-all.sh … | head`): that must not leave a store and a server behind.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", () => {});
  ensureSize(stream);
}
// A file that may not become larger is a write that fails, not the end of everything: once a library has listened to this
// signal and left, the system's way would be to end us.
process.on("SIGXFSZ", () => {});

runProgram(main);
