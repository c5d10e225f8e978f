import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Option } from "commander";
import { auditSchema } from "../../contract/audit.js";
import { EXIT, type ExitCode, usageError } from "../../kit/errors.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { stores } from "../../targets/stores/index.js";
import { auditPlan, auditPlanLines } from "../audit/audit-plan.js";
import { auditLines } from "../audit/audit-text.js";
import type { Check } from "../audit/check.js";
import { checks } from "../audit/checks/index.js";
import { AUDIT_FILE, AUDIT_MARKDOWN } from "../audit/run-audit.js";
import { expectedOpening } from "../campaign/open-runtime.js";
import { registerPlugins } from "../campaign/used-plugins.js";
import { createCommand } from "../request/command-line.js";
import { addSettings, joined, noDefaults, takenFlags } from "../request/flags.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { listOf } from "../request/setting-values.js";
import { AUDIT_COMMAND, shellWord } from "../ui/command-text.js";
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
Each target is started with a fresh store, four servers and windows of one or two seconds. No figure is one of speed.

Checks:
${checkList()}

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
    );
  return addSettings(command, SETTINGS).addHelpText("after", after);
}

function checksOf(text: string | undefined): readonly Check[] {
  if (text === undefined) return checks;
  const words = listOf("--checks", text, []);
  const ids = checks.map(({ id }) => id);
  for (const word of words) requireKnown("check", word, ids);
  return checks.filter(({ id }) => words.includes(id));
}

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
  format: Format,
  { runAudit, print }: { runAudit: CliContext["audit"]; print: CliContext["print"] },
): Promise<ExitCode> {
  const { exitCode, folder } = await runAudit(
    { ...request, output: { ...request.output, ownResult: true } },
    chosen,
  );
  if (folder === undefined) return exitCode;
  const text = readFileSync(join(folder, AUDIT_FILE), "utf8");
  if (format === "json") print(text.trimEnd());
  else if (format === "md") print(readFileSync(join(folder, AUDIT_MARKDOWN), "utf8").trimEnd());
  else print([...auditLines(auditSchema.parse(JSON.parse(text))), `saved in ${folder}`].join("\n"));
  return exitCode;
}

export const audit = parsedCommand("audit", definition, async (command, context, argv) => {
  const { env, audit: runAudit, print } = context;
  const { checks: named, format = "table" } = command.opts<{ checks?: string; format?: Format }>();
  const chosen = checksOf(named);
  if (env.STORE_URL)
    throw usageError(
      "STORE_URL: an audit empties, restarts and spoils its store; unset it to go on",
    );
  const request = parseCampaign(takenFlags(command, SETTINGS), env);
  if (!request) return EXIT.done;
  const words = [AUDIT_COMMAND, ...argv.map(shellWord)].join(" ");
  const repeatable = { ...request, record: { ...request.record, command: words } };
  if (request.start.dryRun) return printPlan(repeatable, chosen, context);
  return checkPromises(repeatable, chosen, format, { runAudit, print });
});
