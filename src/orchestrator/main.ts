import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { CLEAN_COMMAND, runnableIn } from "../kit/command-text.js";
import { definedOnly } from "../kit/defined-only.js";
import {
  BenchError,
  EXIT,
  type ExitCode,
  environmentError,
  messageOf,
  usageError,
} from "../kit/errors.js";
import { type ApiRequest, runApiAudit } from "./audit/api/run-api-audit.js";
import type { Check } from "./audit/check.js";
import { runAudit } from "./audit/run-audit.js";
import { type CampaignEnd, runCampaign } from "./campaign/campaign.js";
import {
  dryRunExitCode,
  previewCampaign,
  previewLines,
  showPlanFirst,
} from "./campaign/dry-run.js";
import type { CliContext } from "./commands/command-types.js";
import { findCommand } from "./commands/help-command.js";
import { commands } from "./commands/index.js";
import { ForeignLoadCheck } from "./host/foreign-load.js";
import { Aborted } from "./ownership/abort.js";
import { HIDDEN_STORE } from "./request/repeated-command.js";
import type { Request } from "./request/request.js";
import { resumeCommand } from "./ui/command-lines.js";
import { EventLog } from "./ui/event-log.js";
import { openScreen } from "./ui/screens.js";
import { ensureSize } from "./ui/tty.js";

const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
const ALIASES: Readonly<Record<string, string>> = {
  "--help": "help",
  "-h": "help",
  "--version": "version",
  "-V": "version",
};

const foreignLoad = new ForeignLoadCheck();

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Whether a hang-up must not end this process. Node.js listens to SIGHUP again after nohup has
 * ignored it. So scripts/run-all.sh sets a variable, and a shell names the command that it starts in
 * `_`.
 */
const ignoresHangUp = ({ IGNORE_HANGUP, _: command = "" }: NodeJS.ProcessEnv): boolean =>
  IGNORE_HANGUP === "true" || basename(command) === "nohup";

/**
 * @throws environmentError where the working folder was removed, because relative paths mean nothing
 *   there
 */
function requireWorkingFolder(): void {
  try {
    process.cwd();
  } catch (error) {
    throw environmentError("the working folder was removed: change to another one", {
      cause: error,
    });
  }
}

/**
 * Lets a signal end the campaign in an orderly way, and a second one end the process at once. One that
 * comes after the end of the campaign has the exit code of the first.
 */
function listenForSignals(eventLog: EventLog): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  let isOver = false;
  const signals = SIGNALS.filter((signal) => signal !== "SIGHUP" || !ignoresHangUp(process.env));
  for (const signal of signals) {
    process.on(signal, () => {
      const reason = new Aborted(signal);
      if (isOver) process.exit(reason.exitCode);
      if (controller.signal.aborted) {
        eventLog.end(reason.exitCode, "ended at once");
        process.stderr.write(
          `ended at once; remove leftovers with: ${runnableIn(CLEAN_COMMAND)}\n`,
        );
        process.exit(reason.exitCode);
      }
      eventLog.warn("stopping everything that was started (press again to end at once)");
      controller.abort(reason);
    });
  }
  const stop = () => {
    isOver = true;
  };
  return { signal: controller.signal, stop };
}

async function campaign(request: Request): Promise<CampaignEnd> {
  if (request.start.dryRun) {
    const dryRun = await previewCampaign(request, packageFolder);
    const isJson = request.output.mode.format === "json";
    print(isJson ? JSON.stringify(dryRun, null, 2) : previewLines(dryRun).join("\n"));
    return { exitCode: dryRunExitCode(dryRun) };
  }
  // A manifest does not keep the address of a store.
  const storePrefix = request.place.storeAccess.STORE_URL ? `${HIDDEN_STORE} ` : "";
  return interruptible(
    request,
    (folder) => `; finished runs are kept; continue with:\n${storePrefix}${resumeCommand(folder)}`,
    async (eventLog, signal) => {
      if (request.start.planFirst)
        await showPlanFirst(request, { packageFolder, eventLog, signal });
      const exitCode = await runCampaign(request, { packageFolder, eventLog, signal, foreignLoad });
      return { exitCode, ...folderOf(eventLog) };
    },
  );
}

const audit = (request: Request, checks: readonly Check[]): Promise<CampaignEnd> =>
  interruptible(
    request,
    () => "",
    (eventLog, signal) => runAudit(request, checks, { packageFolder, eventLog, signal }),
  );

const apiAudit = (request: ApiRequest): Promise<CampaignEnd> =>
  interruptible(
    request,
    () => "",
    (eventLog, signal) => runApiAudit(request, { packageFolder, eventLog, signal }),
  );

/**
 * Runs a command that signals end in an orderly way.
 * @param keptText a text on what an interruption keeps in the command's folder
 */
async function interruptible(
  request: Pick<Request, "output">,
  keptText: (folder: string) => string,
  work: (eventLog: EventLog, signal: AbortSignal) => Promise<CampaignEnd>,
): Promise<CampaignEnd> {
  const outputs = {
    out: request.output.ownResult ? process.stderr : process.stdout,
    err: process.stderr,
  };
  const eventLog = new EventLog(openScreen(request.output.mode, outputs, process.env));
  // The terminal must get its cursor back, however this process ends.
  const close = () => eventLog.close();
  process.once("exit", close);
  const { signal, stop } = listenForSignals(eventLog);
  try {
    const end = await work(eventLog, signal);
    eventLog.end(end.exitCode);
    return end;
  } catch (error) {
    if (error instanceof Aborted) {
      const { folder } = eventLog;
      for (const line of `${error.message}${folder === undefined ? "" : keptText(folder)}`.split(
        "\n",
      ))
        eventLog.warn(line);
      eventLog.end(error.exitCode, error.message);
      return { exitCode: error.exitCode, ...folderOf(eventLog) };
    }
    eventLog.end(error instanceof BenchError ? error.exitCode : EXIT.defect, messageOf(error));
    throw error;
  } finally {
    stop();
    process.off("exit", close);
    close();
  }
}

const folderOf = ({ folder }: EventLog): Pick<CampaignEnd, "folder"> => definedOnly({ folder });

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export async function main(): Promise<ExitCode> {
  requireWorkingFolder();
  if (ignoresHangUp(process.env)) process.on("SIGHUP", () => {});
  const [name, ...argv] = process.argv.slice(2);
  if (name === undefined) {
    const names = commands.map((command) => command.name).join(", ");
    throw usageError(`a command is missing: give one of ${names}; see ratelimit-bench --help`);
  }
  const context: CliContext = {
    packageFolder,
    env: process.env,
    commands,
    campaign,
    audit,
    apiAudit,
    print,
  };
  return findCommand(ALIASES[name] ?? name, commands).run(argv, context);
}

// The reader may exit early (`run-all.sh … | head`), which must not leave a store and a server
// behind.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", () => {});
  ensureSize(stream);
}
// A write beyond the file size limit should fail like any other write. Without a listener, the
// signal ends this process once a library has removed its own listener.
process.on("SIGXFSZ", () => {});
