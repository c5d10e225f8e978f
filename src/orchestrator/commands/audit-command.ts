import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Command, Option } from "commander";
import { type Audit, auditSchema } from "../../contract/audit.js";
import { AUDIT_COMMAND, shellWord } from "../../kit/command-text.js";
import { EXIT, type ExitCode, usageError } from "../../kit/errors.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { stores } from "../../targets/stores/index.js";
import { apiPlanLines, planOf } from "../audit/api/api-plan.js";
import { apiAuditLines } from "../audit/api/api-text.js";
import { apiChecks } from "../audit/api/checks/index.js";
import { AUDIT_FILE, AUDIT_MARKDOWN } from "../audit/audit-files.js";
import { auditPlan, auditPlanLines } from "../audit/audit-plan.js";
import { auditLines } from "../audit/audit-text.js";
import type { Check } from "../audit/check.js";
import { checks } from "../audit/checks/index.js";
import { expectedOpening } from "../campaign/open-runtime.js";
import { registerPlugins } from "../campaign/used-plugins.js";
import { requireWritable } from "../files/results-folder.js";
import { createCommand } from "../request/command-line.js";
import { addSettings, joined, noDefaults, takenFlags } from "../request/flags.js";
import { parseCampaign, parseOutput } from "../request/parse-request.js";
import type { Request, RequestedOutput } from "../request/request.js";
import { listOf } from "../request/setting-values.js";
import { requireConsent } from "./audit-consent.js";
import { addApiFlags, apiSettingsOf, givenApiFlag, withoutCredentials } from "./audit-url-flags.js";
import { type CliContext, parsedCommand } from "./command-types.js";

const SETTINGS = {
  ...noDefaults(["clients", "limiter", "framework", "runtime", "plugin", "program", "image"]),
  ...noDefaults(["valkey-server", "redis-server", "service-env", "output", "config"]),
  ...noDefaults(["progress", "quiet", "verbose", "allow-parallel", "dry-run"]),
};
const FORMATS = ["table", "json", "md"] as const;
type Format = (typeof FORMATS)[number];

/** Whether limiters on some store promise what a check tries. */
const isPromised = ({ unpromisedReason }: Check): boolean =>
  stores.some(({ id, engine }) => engine !== undefined && !unpromisedReason?.({ store: id }));

/** The settings that an audit by address takes: it starts nothing. */
const OUTPUT_SETTINGS = noDefaults(["output", "progress", "quiet", "verbose"]);

const apiCheckList = (): string => {
  const width = Math.max(...apiChecks.map(({ id }) => id.length));
  return apiChecks.map(({ id, promise }) => `  ${id.padEnd(width)}  ${promise}`).join("\n");
};

const checkList = (): string => {
  const width = Math.max(...checks.map(({ id }) => id.length));
  return checks
    .map(
      (check) =>
        `  ${check.id.padEnd(width)}  ${check.promise}${isPromised(check) ? "" : " Not promised."}`,
    )
    .join("\n");
};

const after = () => `
Each target is started with a fresh store, one server (four where a check compares them) and windows of one or two seconds. No figure is one of speed.

Checks:
${checkList()}

With --url it audits an API that runs already, by its address: --url http://127.0.0.1:3000/api/items --quota 100/60s
--key header:X-Api-Key. Its checks:
${apiCheckList()}

Results are in OUTPUT/audits/: audit.json, audit.md and index.html. docs/audit.md explains them.

Exit codes: 0 every promise holds, 2 bad usage, 3 environment not fit, 4 a target could not be checked,
            6 a promise is broken, 130 interrupted. What no limiter promises is told and counts for nothing.`;

function definition() {
  const command = createCommand(AUDIT_COMMAND)
    .description("Checks what limiters promise against what they do.")
    .addOption(
      new Option("--checks <list>", "make these checks alone (default: all)").argParser(joined),
    )
    .addOption(
      new Option("--format <format>", "what is printed at the end (default: table)").choices([
        ...FORMATS,
      ]),
    )
    .addOption(new Option("--junit <file>", "also write the result as JUnit's XML"));
  return addApiFlags(addSettings(command, SETTINGS)).addHelpText("after", after);
}

/** The checks of a list that a text names; all of them without one. @throws usageError */
function checksOf<Named extends { id: string }>(
  all: readonly Named[],
  text: string | undefined,
): readonly Named[] {
  if (text === undefined) return all;
  const words = listOf("--checks", text, []);
  const ids = all.map(({ id }) => id);
  for (const word of words) requireKnown("check", word, ids);
  return all.filter(({ id }) => words.includes(id));
}

/** Where the result of an audit goes beside its folder. */
interface ResultPlace {
  format: Format;
  print: CliContext["print"];
}

/** Prints what an audit wrote, in the format that was asked for. */
async function giveResult(
  folder: string,
  { format, print }: ResultPlace,
  linesOf: (audit: Audit) => string[],
): Promise<void> {
  const text = readFileSync(join(folder, AUDIT_FILE), "utf8");
  const document = auditSchema.parse(JSON.parse(text));
  if (format === "json") print(text.trimEnd());
  else if (format === "md") print(readFileSync(join(folder, AUDIT_MARKDOWN), "utf8").trimEnd());
  else print([...linesOf(document), `saved in ${folder}`].join("\n"));
}

const junitOutput = (junit: string | undefined): Pick<RequestedOutput, "junit"> =>
  junit === undefined ? {} : { junit: resolve(junit) };

/** Prints what would be checked on this machine, and starts nothing. */
async function printPlan(
  request: Request,
  chosen: readonly Check[],
  { packageFolder, print }: Pick<CliContext, "packageFolder" | "print">,
): Promise<ExitCode> {
  await registerPlugins(request.place.plugins, undefined);
  const { available } = await expectedOpening(request, packageFolder);
  print(auditPlanLines(auditPlan(request.targets, chosen, available)).join("\n"));
  return EXIT.done;
}

export async function checkPromises(
  request: Request,
  chosen: readonly Check[],
  runAudit: CliContext["audit"],
  result: ResultPlace,
): Promise<ExitCode> {
  await requireWritable(request.output.junit, "--junit");
  const { exitCode, folder } = await runAudit(
    { ...request, output: { ...request.output, ownResult: true } },
    chosen,
  );
  if (folder !== undefined) await giveResult(folder, result, auditLines);
  return exitCode;
}

interface AuditOptions {
  junit?: string;
  url?: string;
  clients?: string;
  checks?: string;
  format?: Format;
  yes?: true;
  dryRun?: true;
}

/** Audits an API by its address. */
async function auditByAddress(
  command: Command,
  options: AuditOptions & { url: string },
  { env, apiAudit, print }: CliContext,
  argv: readonly string[],
): Promise<ExitCode> {
  const { url, clients, checks: named, format = "table", junit, yes, dryRun } = options;
  if (clients !== undefined) throw usageError("--url and --clients: give one of them");
  const settings = apiSettingsOf(command, url);
  const chosen = checksOf(apiChecks, named);
  if (dryRun) {
    print(apiPlanLines(settings, planOf(settings, chosen)).join("\n"));
    return EXIT.done;
  }

  await requireWritable(junit, "--junit");
  const output = parseOutput(takenFlags(command, OUTPUT_SETTINGS), env);
  await requireConsent(settings, chosen, yes === true);

  const { exitCode, folder } = await apiAudit({
    settings,
    checks: chosen,
    output: { ...output, ...junitOutput(junit), ownResult: true },
    command: commandText(withoutCredentials(argv)),
  });
  if (folder !== undefined) await giveResult(folder, { format, print }, apiAuditLines);
  return exitCode;
}

const commandText = (argv: readonly string[]): string =>
  [AUDIT_COMMAND, ...argv.map(shellWord)].join(" ");

export const audit = parsedCommand("audit", definition, async (command, context, argv) => {
  const { env, audit: runAudit, print } = context;
  const options = command.opts<AuditOptions>();
  const { url, checks: named, format = "table", junit } = options;
  if (url !== undefined) return auditByAddress(command, { ...options, url }, context, argv);
  const apiFlag = givenApiFlag(command);
  if (apiFlag !== undefined) throw usageError(`${apiFlag} audits an API: give its --url, too`);

  const chosen = checksOf(checks, named);
  if (env.STORE_URL)
    throw usageError(
      "STORE_URL: an audit empties, restarts and spoils its store; unset it to go on",
    );
  const request = parseCampaign(takenFlags(command, SETTINGS), env);
  if (!request) return EXIT.done;
  const output = { ...request.output, ...junitOutput(junit) };
  const repeatable = {
    ...request,
    output,
    record: { ...request.record, command: commandText(argv) },
  };
  if (request.start.dryRun) return printPlan(repeatable, chosen, context);
  return checkPromises(repeatable, chosen, runAudit, { format, print });
});
