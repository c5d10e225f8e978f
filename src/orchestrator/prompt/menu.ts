import { AUDIT_COMMAND, CAMPAIGN_COMMAND, runnableIn, shellWord } from "../../kit/command-text.js";
import type { Environment } from "../../kit/env.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { auditPlan, auditPlanLines } from "../audit/audit-plan.js";
import { checks } from "../audit/checks/index.js";
import { dryRunExitCode, previewCampaign, timesText } from "../campaign/dry-run.js";
import { requireResultsRoot } from "../files/results-folder.js";
import { checkText, type MachineCheck, runChecks } from "../host/machine-checks.js";
import { refuseIfLocked } from "../ownership/state-folder.js";
import { parseCampaign } from "../request/parse-request.js";
import { HIDDEN_STORE } from "../request/repeated-command.js";
import type { Request } from "../request/request.js";
import { contactStore } from "../run/store/contact-store.js";
import { durationText } from "../ui/text.js";
import { answersFrom, argvFrom, goalOf, goals } from "./goals.js";
import type { MenuAnswers, OwnStore } from "./menu-answers.js";
import { addressPage, goalPage, type Page, pages } from "./pages.js";
import { planLines } from "./plan-lines.js";
import { BACK, Cancelled, type MenuOption, type Prompter } from "./prompter.js";

/** The length from which on a campaign gets a warning. */
const LONG_CAMPAIGN_S = 3600;

const CANCEL = { value: "cancel", label: "Cancel" };
const START_OPTIONS = [
  { value: "start", label: "Start" },
  { value: "change", label: "Change an answer" },
  CANCEL,
];

/** What the menu knows of the place where it runs. */
export interface MenuContext {
  env: Environment;
  packageFolder: string;
  /** Flags from the command line, which ask for nothing and go to every command. */
  flags: readonly string[];
}

/**
 * Asks all pages and shows the plan, until the user starts it.
 * @param answersSoFar takes the answers of the user, for the case that the user cancels
 * @throws Cancelled
 */
export async function menu(
  prompter: Prompter,
  context: MenuContext,
  answersSoFar: Partial<MenuAnswers>,
): Promise<Request> {
  const times = await prompter.showWhile("planning", goalTimes(context));
  const address = addressPage((url) => contactStore({ ...context.env, STORE_URL: url }));
  const allPages = [goalPage(times), address, ...pages];
  let firstPage = 0;
  for (;;) {
    await askPages(prompter, allPages, firstPage, answersSoFar);
    const request = requestOf(answersSoFar, context);
    const { ownStore } = answersFrom(answersSoFar);
    const duration = await showPlan(prompter, request, ownStore, context.packageFolder);
    const next = await askNext(
      prompter,
      changeOptions(allPages, answersFrom(answersSoFar)),
      duration,
    );
    if (next === "start") return request;

    firstPage = allPages.length;
    if (next === BACK) firstPage = lastPage(allPages, answersFrom(answersSoFar));
    else if (next !== "plan") {
      await askAgain(prompter, allPages, next, answersSoFar);
      // Another goal asks for other answers.
      if (next === 0) firstPage = 1;
    }
  }
}

/** The words of a command that does what was answered so far. */
export const commandSoFar = (
  answersSoFar: Partial<MenuAnswers>,
  { flags }: Pick<MenuContext, "flags">,
): string => {
  const isAudit = goalOf(answersSoFar).isAudit === true;
  const words = answersSoFar.goal === undefined ? [] : argvFrom(answersSoFar);
  const name = isAudit ? AUDIT_COMMAND : CAMPAIGN_COMMAND;
  const command = [name, ...words.map(shellWord), ...flags.map(shellWord)].join(" ");
  const { ownStore } = answersFrom(answersSoFar);
  return ownStore ? `${assignmentOf(ownStore)} ${command}` : command;
};

/** The store as a shell sets it. The menu takes no address with a password. */
const assignmentOf = ({ url }: OwnStore): string => `STORE_URL=${shellWord(url)}`;

/** A written command as the user can start it here, with the store that the menu asked for. */
const shownCommand = (command: string, ownStore: OwnStore | undefined): string =>
  runnableIn(ownStore ? command.replace(HIDDEN_STORE, assignmentOf(ownStore)) : command);

/** The request of the answers. Its seed is drawn once: the plan that is shown is the one that runs. */
function requestOf(answersSoFar: Partial<MenuAnswers>, context: MenuContext): Request {
  const { ownStore } = answersFrom(answersSoFar);
  const env = ownStore ? { ...context.env, STORE_URL: ownStore.url } : context.env;
  const argv = [...argvFrom(answersSoFar), ...context.flags];
  const { seed } = parsed(argv, env).rounds;
  const request = parsed([...argv, "--seed", String(seed)], env);
  if (!goalOf(answersSoFar).isAudit) return request;
  return {
    ...request,
    start: { ...request.start, audit: true },
    record: { ...request.record, command: commandSoFar(answersSoFar, context) },
  };
}

function parsed(argv: readonly string[], env: Environment): Request {
  const request = parseCampaign(argv, env);
  if (!request) throw new Error("the menu's answers ask for help");
  return request;
}

/** How long each goal takes with its default answers; those that cannot run here have no time. */
async function goalTimes(context: MenuContext): Promise<Record<string, string>> {
  const times: Record<string, string> = {};
  for (const { id } of goals) {
    try {
      times[id] = durationText(await secondsOf(requestOf({ goal: id }, context), context));
    } catch {
      // Its plan says why, once it is chosen.
    }
  }
  return times;
}

async function secondsOf(request: Request, { packageFolder }: MenuContext): Promise<number> {
  if (request.start.audit) return auditPlan(request.targets, checks).seconds;
  return (await previewCampaign(request, packageFolder)).estimate.seconds;
}

/** Whether the goal of the answers asks for the page's answer. */
const isAsked = ({ key, applies }: Page, answers: MenuAnswers): boolean =>
  (key === "goal" || goalOf(answers).asks.includes(key)) && applies?.(answers) !== false;

const changeOptions = (allPages: readonly Page[], answers: MenuAnswers): MenuOption[] =>
  allPages.flatMap((page, index) =>
    isAsked(page, answers)
      ? [{ value: String(index), label: `Change ${page.title.toLowerCase()}` }]
      : [],
  );

const lastPage = (allPages: readonly Page[], answers: MenuAnswers): number =>
  allPages.findLastIndex((page) => !page.advanced && isAsked(page, answers));

/**
 * Asks what to do with the plan that was shown.
 * @param duration how long the campaign takes; undefined if it cannot be started
 * @returns the index of the page to ask again; `plan` where the plan is to be shown once more
 * @throws Cancelled
 */
async function askNext(
  prompter: Prompter,
  changes: readonly MenuOption[],
  duration: string | undefined,
): Promise<"start" | "plan" | number | typeof BACK> {
  const next =
    duration === undefined
      ? await prompter.selectOne("What now?", [...changes, CANCEL], "0")
      : await prompter.selectOne(`Start it? It takes ${duration}`, START_OPTIONS, "start");
  if (next === "start" || next === BACK) return next;
  if (next === "cancel") throw new Cancelled();

  const page = next === "change" ? await prompter.selectOne("Which one?", changes, "0") : next;
  return page === BACK ? "plan" : Number(page);
}

/** Asks a page again, and those that apply because of its new answer. */
async function askAgain(
  prompter: Prompter,
  allPages: readonly Page[],
  index: number,
  answersSoFar: Partial<MenuAnswers>,
): Promise<void> {
  const before = answersFrom(answersSoFar);
  const answer = await allPages[index]?.ask(prompter, before);
  if (answer === undefined || answer === BACK) return;

  Object.assign(answersSoFar, answer);
  const after = answersFrom(answersSoFar);
  if (before.goal !== after.goal) return;
  // A heavy workload has a complexity.
  const newPage = allPages.findIndex(
    (page) => !page.advanced && isAsked(page, after) && !isAsked(page, before),
  );
  if (newPage >= 0) await askAgain(prompter, allPages, newPage, answersSoFar);
}

/**
 * Asks the pages from `firstPage` on. Going back leads to the previous page that applies; the first
 * page stays.
 */
async function askPages(
  prompter: Prompter,
  allPages: readonly Page[],
  firstPage: number,
  answersSoFar: Partial<MenuAnswers>,
): Promise<void> {
  let index = firstPage;
  let step = 1;
  while (index < allPages.length) {
    const page = allPages[index];
    const answers = answersFrom(answersSoFar);
    if (page && !page.advanced && isAsked(page, answers)) {
      const answer = await page.ask(prompter, answers);
      if (answer !== BACK) Object.assign(answersSoFar, answer);
      step = answer === BACK ? -1 : 1;
    }
    index += step;
    if (index < 0) {
      index = 0;
      step = 1;
    }
  }
}

/** Shows the plan. @returns how long it takes; undefined if it cannot be started */
async function showPlan(
  prompter: Prompter,
  request: Request,
  ownStore: OwnStore | undefined,
  packageFolder: string,
): Promise<string | undefined> {
  const checking = Promise.all([
    request.start.audit
      ? auditPlan(request.targets, checks)
      : previewCampaign(request, packageFolder, ownStore?.found),
    runChecks(request.place.runtime, packageFolder),
    refuseIfLocked(),
  ]);
  try {
    const [plan, machineChecks] = await prompter.showWhile("making the plan", checking);
    if ("estimate" in plan) dryRunExitCode(plan);
    const warnings = warningsFrom(machineChecks);
    const seconds = "estimate" in plan ? plan.estimate.seconds : plan.seconds;
    if (seconds > LONG_CAMPAIGN_S)
      warnings.push("this takes long: consider fewer runs or a shorter duration");
    const warningLines = warnings.map((warning) => `warning: ${warning}`);

    // The plan holds all that there is to know, and is folded where needed, so that the user sees it
    // when deciding.
    const command = shownCommand(request.record.command, ownStore);
    const room = prompter.linesAbove(command, START_OPTIONS.length);
    const lines =
      "estimate" in plan
        ? planLines(plan, warningLines, { columns: prompter.columns, room })
        : [...auditPlanLines(plan), ...warningLines];
    prompter.show("The plan", lines);
    prompter.showCommand("The same without the menu", command);
    return "estimate" in plan ? timesText(plan) : `about ${durationText(plan.seconds)}`;
  } catch (error) {
    prompter.show("This cannot be run", messageOf(error).split("\n"));
    return undefined;
  }
}

/** @throws environmentError where a check failed */
function warningsFrom(machineChecks: readonly MachineCheck[]): string[] {
  const failed = machineChecks.filter(({ status }) => status === "fail");
  if (failed.length > 0) throw environmentError(failed.map(checkText).join("\n"));
  return machineChecks.filter(({ status }) => status === "warn").map(checkText);
}

/** Checks first whether this machine can run any campaign. @throws usageError; environmentError */
export async function requireReady(context: MenuContext): Promise<void> {
  const request = requestOf({}, context);
  await refuseIfLocked();
  await requireResultsRoot(request.output.folder);
  const failed = (await runChecks("auto", context.packageFolder)).filter(
    ({ status }) => status === "fail",
  );
  if (failed.length > 0)
    throw environmentError(
      `no campaign can start on this machine: ${failed.map(checkText).join("; ")}`,
    );
}
