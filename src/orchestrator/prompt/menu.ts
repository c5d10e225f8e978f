import type { Environment } from "../../contract/env.js";
import { environmentError, messageOf } from "../../contract/errors.js";
import { preview, timesText } from "../campaign/dry-run.js";
import { requireResultsRoot } from "../files/results-folder.js";
import { checkText, examine } from "../host/doctor.js";
import { refuseIfLocked } from "../ownership/state-folder.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { type Answers, FIRST_ANSWERS, wordsOf } from "./answers.js";
import { pages } from "./pages.js";
import { planLines } from "./plan-lines.js";
import { BACK, type Back, Cancelled, type Prompter } from "./prompter.js";

/** More than this is said as a warning, seconds. */
const LONG_S = 3600;

/** Walks through the pages to a campaign that the user has seen and wants. @throws Cancelled */
export async function menu(prompter: Prompter, env: Environment, packageFolder: string): Promise<Request> {
  let answers = FIRST_ANSWERS;
  let first = 0;
  for (;;) {
    answers = await walk(prompter, answers, first);
    const words = wordsOf(answers);
    // The seed is drawn once, so that the plan that is shown is the one that runs.
    const drawn = parseCampaign(words, env);
    if (!drawn) throw new Error("the answers ask for help");
    const request = parseCampaign([...words, "--seed", String(drawn.seed)], env);
    if (!request) throw new Error("the answers ask for help");
    const next = await decide(prompter, answers, await show(prompter, request, packageFolder));
    if (next === "start") return request;
    first = next === BACK ? pages.length - 1 : next;
    if (next !== BACK) {
      answers = await one(prompter, answers, first);
      first = pages.length;
    }
  }
}

/**
 * What becomes of the plan that was shown.
 * @param takes how long it takes, where it can be started
 * @returns the page to ask again, by its number
 * @throws Cancelled
 */
async function decide(
  prompter: Prompter,
  answers: Answers,
  takes?: string,
): Promise<"start" | number | Back> {
  const changes = pages
    .map(({ title, applies }, index) => ({
      value: String(index),
      label: `Change ${title.toLowerCase()}`,
      applies,
    }))
    .filter(({ applies }) => !applies || applies(answers))
    .map(({ value, label }) => ({ value, label }));
  const cancel = { value: "cancel", label: "Cancel" };
  for (;;) {
    const next =
      takes === undefined
        ? await prompter.one("What now?", [...changes, cancel], "0")
        : await prompter.one(
            `Start it? It takes ${takes}`,
            [{ value: "start", label: "Start" }, { value: "change", label: "Change an answer" }, cancel],
            "start",
          );
    if (next === "start" || next === BACK) return next;
    if (next === "cancel") throw new Cancelled();
    const page = next === "change" ? await prompter.one("Which one?", changes, "0") : next;
    if (page !== BACK) return Number(page);
  }
}

/** Asks one page again; going back leaves the answers as they were. */
async function one(prompter: Prompter, answers: Answers, index: number): Promise<Answers> {
  const answer = await pages[index]?.ask(prompter, answers);
  if (answer === undefined || answer === BACK) return answers;
  const changed = { ...answers, ...answer };
  // A heavy workload that was not asked for before has a complexity to ask for.
  const opened = pages.findIndex(({ applies }) => applies?.(changed) && !applies(answers));
  return opened < 0 ? changed : one(prompter, changed, opened);
}

/** Asks the pages from `first` on; back leads to the page before that applies, and stays on the first one. */
async function walk(prompter: Prompter, start: Answers, first: number): Promise<Answers> {
  let answers = start;
  let index = first;
  let step = 1;
  while (index < pages.length) {
    const page = pages[index];
    if (page && (!page.applies || page.applies(answers))) {
      const answer = await page.ask(prompter, answers);
      if (answer !== BACK) answers = { ...answers, ...answer };
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

/** The last page. @returns how long the campaign takes; undefined where it cannot be started */
async function show(
  prompter: Prompter,
  request: Request,
  packageFolder: string,
): Promise<string | undefined> {
  const checking = Promise.all([
    preview(request, packageFolder),
    examine(request.runtime, packageFolder),
    refuseIfLocked(),
  ]);
  try {
    const [found, checks] = await prompter.during("making the plan", checking);
    const failed = checks.filter(({ status }) => status === "fail");
    if (failed.length > 0) throw environmentError(failed.map(checkText).join("\n"));
    const warnings = checks.filter(({ status }) => status === "warn").map(checkText);
    if (found.estimate.seconds > LONG_S)
      warnings.push("this takes long: fewer runs or a shorter duration would do");
    prompter.show("The plan", planLines(found, prompter.columns));
    if (warnings.length > 0) prompter.show("Warnings", warnings);
    prompter.command("The same without the menu", request.command);
    return timesText(found);
  } catch (error) {
    prompter.show("This cannot be run", messageOf(error).split("\n"));
    return undefined;
  }
}

/**
 * What would refuse every campaign, whatever is answered, is said before anything is asked.
 * @throws usageError for a wrong variable; environmentError for another campaign, or a machine that is not fit
 */
export async function requireReady(env: Environment, packageFolder: string): Promise<void> {
  const request = parseCampaign(wordsOf(FIRST_ANSWERS), env);
  if (!request) throw new Error("the first answers ask for help");
  await refuseIfLocked();
  await requireResultsRoot(request.output);
  const failed = (await examine("auto", packageFolder)).filter(({ status }) => status === "fail");
  if (failed.length > 0)
    throw environmentError(`no campaign can start on this machine: ${failed.map(checkText).join("; ")}`);
}
