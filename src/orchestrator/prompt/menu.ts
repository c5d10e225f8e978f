import type { Environment } from "../../kit/env.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import { previewCampaign, timesText } from "../campaign/dry-run.js";
import { requireResultsRoot } from "../files/results-folder.js";
import { checkText, runChecks } from "../host/machine-checks.js";
import { refuseIfLocked } from "../ownership/state-folder.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { shellWord } from "../ui/command-text.js";
import { argvOf, DEFAULT_ANSWERS, type MenuAnswers } from "./menu-answers.js";
import { pages } from "./pages.js";
import { planLines } from "./plan-lines.js";
import { BACK, Cancelled, type Prompter } from "./prompter.js";

/** The length from which on a campaign gets a warning. */
const LONG_CAMPAIGN_S = 3600;

/** The answer that checks what the targets promise, instead of measuring them. */
const AUDIT = "audit";

const CANCEL = { value: "cancel", label: "Cancel" };
const START_OPTIONS = [
  { value: "start", label: "Start" },
  { value: "change", label: "Change an answer" },
  { value: AUDIT, label: "Check their promises instead", hint: "about a minute each, no speed" },
  CANCEL,
];

const auditCommand = ({ clients, stores, runtime }: MenuAnswers): string =>
  [
    "ratelimit-bench audit",
    ...argvOf({ ...DEFAULT_ANSWERS, clients, stores, runtime }).map(shellWord),
  ].join(" ");

/**
 * Asks all pages and shows the plan, until the user starts it.
 * @param answersSoFar takes the answers of the user, for the case that the user cancels
 * @throws Cancelled
 */
export async function menu(
  prompter: Prompter,
  env: Environment,
  packageFolder: string,
  answersSoFar: Partial<MenuAnswers>,
): Promise<Request> {
  let answers = DEFAULT_ANSWERS;
  let firstPage = 0;
  for (;;) {
    answers = await askPages(prompter, answers, firstPage, answersSoFar);
    const argv = argvOf(answers);
    // The seed is drawn once, so the plan that is shown is the one that runs.
    const { seed } = requestOf(argv, env);
    const request = requestOf([...argv, "--seed", String(seed)], env);
    const duration = await showPlan(prompter, request, packageFolder);
    const next = await askNext(prompter, answers, duration);
    if (next === "start") return request;
    if (next === AUDIT) return { ...request, audit: true, command: auditCommand(answers) };
    if (next === BACK) firstPage = pages.length - 1;
    else {
      answers = await askAgain(prompter, answers, next, answersSoFar);
      firstPage = pages.length;
    }
  }
}

function requestOf(argv: readonly string[], env: Environment): Request {
  const request = parseCampaign(argv, env);
  if (!request) throw new Error("the menu's answers ask for help");
  return request;
}

/**
 * Asks what to do with the plan that was shown.
 * @param duration how long the campaign takes; undefined if it cannot be started
 * @returns the index of the page to ask again, unless the user starts the campaign or goes back
 * @throws Cancelled
 */
async function askNext(
  prompter: Prompter,
  answers: MenuAnswers,
  duration: string | undefined,
): Promise<"start" | typeof AUDIT | number | typeof BACK> {
  const changes = pages.flatMap(({ title, applies }, index) =>
    !applies || applies(answers)
      ? [{ value: String(index), label: `Change ${title.toLowerCase()}` }]
      : [],
  );
  for (;;) {
    const next =
      duration === undefined
        ? await prompter.selectOne("What now?", [...changes, CANCEL], "0")
        : await prompter.selectOne(`Start it? It takes ${duration}`, START_OPTIONS, "start");
    if (next === "start" || next === AUDIT || next === BACK) return next;
    if (next === "cancel") throw new Cancelled();
    const page = next === "change" ? await prompter.selectOne("Which one?", changes, "0") : next;
    if (page !== BACK) return Number(page);
  }
}

async function askAgain(
  prompter: Prompter,
  answers: MenuAnswers,
  index: number,
  answersSoFar: Partial<MenuAnswers>,
): Promise<MenuAnswers> {
  const answer = await pages[index]?.ask(prompter, answers);
  if (answer === undefined || answer === BACK) return answers;
  Object.assign(answersSoFar, answer);
  const changed = { ...answers, ...answer };
  // An answer can make another page apply: a heavy workload has a complexity.
  const newPage = pages.findIndex(
    ({ applies, advanced }) => !advanced && applies?.(changed) && !applies(answers),
  );
  return newPage < 0 ? changed : askAgain(prompter, changed, newPage, answersSoFar);
}

/**
 * Asks the pages from `firstPage` on. Going back leads to the previous page that applies, and stays
 * on the first page.
 */
async function askPages(
  prompter: Prompter,
  initial: MenuAnswers,
  firstPage: number,
  answersSoFar: Partial<MenuAnswers>,
): Promise<MenuAnswers> {
  let answers = initial;
  let index = firstPage;
  let step = 1;
  while (index < pages.length) {
    const page = pages[index];
    if (page && !page.advanced && (!page.applies || page.applies(answers))) {
      const answer = await page.ask(prompter, answers);
      if (answer !== BACK) answers = { ...answers, ...Object.assign(answersSoFar, answer) };
      step = answer === BACK ? -1 : 1;
    }
    index += step;
    if (index < 0) {
      index = 0;
      step = 1;
    }
  }
  return answers;
}

/** Shows the plan. @returns how long the campaign takes; undefined if it cannot be started */
async function showPlan(
  prompter: Prompter,
  request: Request,
  packageFolder: string,
): Promise<string | undefined> {
  const checking = Promise.all([
    previewCampaign(request, packageFolder),
    runChecks(request.runtime, packageFolder),
    refuseIfLocked(),
  ]);
  try {
    const [preview, checks] = await prompter.showWhile("making the plan", checking);
    const failed = checks.filter(({ status }) => status === "fail");
    if (failed.length > 0) throw environmentError(failed.map(checkText).join("\n"));
    const warnings = checks.filter(({ status }) => status === "warn").map(checkText);
    if (preview.estimate.seconds > LONG_CAMPAIGN_S)
      warnings.push("this takes long: consider fewer runs or a shorter duration");
    if (warnings.length > 0) prompter.show("Warnings", warnings);
    // The plan comes last, and is folded where needed, so that the user sees it when deciding.
    const room = prompter.linesAbove(request.command, START_OPTIONS.length);
    prompter.show("The plan", planLines(preview, prompter.columns, room));
    prompter.showCommand("The same without the menu", request.command);
    return timesText(preview);
  } catch (error) {
    prompter.show("This cannot be run", messageOf(error).split("\n"));
    return undefined;
  }
}

/** @throws usageError; environmentError where this machine can run no campaign at all */
export async function requireReady(env: Environment, packageFolder: string): Promise<void> {
  const request = requestOf(argvOf(DEFAULT_ANSWERS), env);
  await refuseIfLocked();
  await requireResultsRoot(request.output);
  const checks = await runChecks("auto", packageFolder);
  const failed = checks.filter(({ status }) => status === "fail");
  if (failed.length > 0)
    throw environmentError(
      `no campaign can start on this machine: ${failed.map(checkText).join("; ")}`,
    );
}
