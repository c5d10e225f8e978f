import type { Environment } from "../../contract/env.js";
import { messageOf } from "../../contract/errors.js";
import { parseCampaign } from "../args.js";
import { examine } from "../doctor.js";
import { preview, previewLines } from "../dry-run.js";
import type { Request } from "../request.js";
import { type Answers, FIRST_ANSWERS, wordsOf } from "./answers.js";
import { type Asker, BACK, Cancelled } from "./asker.js";
import { pages } from "./pages.js";

/** More than this is said as a warning, seconds. */
const LONG_S = 3600;

/** Walks through the pages to a campaign that the user has seen and wants. @throws Cancelled */
export async function menu(asker: Asker, env: Environment, packageFolder: string): Promise<Request> {
  let answers = FIRST_ANSWERS;
  let first = 0;
  for (;;) {
    answers = await walk(asker, answers, first);
    const words = wordsOf(answers);
    // The seed is drawn once, so that the plan that is shown is the one that runs.
    const drawn = parseCampaign(words, env);
    if (!drawn) throw new Error("the answers ask for help");
    const request = parseCampaign([...words, "--seed", String(drawn.seed)], env);
    if (!request) throw new Error("the answers ask for help");
    const isPossible = await show(asker, request, packageFolder);
    const next = await asker.one(
      isPossible ? "Start it?" : "What now?",
      [
        ...(isPossible ? [{ value: "start", label: "Start" }] : []),
        ...pages
          .map(({ title, applies }, index) => ({ value: String(index), title, applies }))
          .filter(({ applies }) => !applies || applies(answers))
          .map(({ value, title }) => ({ value, label: `Change ${title.toLowerCase()}` })),
        { value: "cancel", label: "Cancel" },
      ],
      isPossible ? "start" : "0",
    );
    if (next === "cancel") throw new Cancelled();
    if (next === "start") return request;
    first = next === BACK ? pages.length - 1 : Number(next);
    if (next !== BACK) {
      answers = await one(asker, answers, first);
      first = pages.length;
    }
  }
}

/** Asks one page again; going back leaves the answers as they were. */
async function one(asker: Asker, answers: Answers, index: number): Promise<Answers> {
  const answer = await pages[index]?.ask(asker, answers);
  if (answer === undefined || answer === BACK) return answers;
  const changed = { ...answers, ...answer };
  // A heavy workload that was not asked for before has a complexity to ask for.
  const opened = pages.findIndex(({ applies }) => applies?.(changed) && !applies(answers));
  return opened < 0 ? changed : one(asker, changed, opened);
}

/** Asks the pages from `first` on; back leads to the page before that applies, and stays on the first one. */
async function walk(asker: Asker, start: Answers, first: number): Promise<Answers> {
  let answers = start;
  let index = first;
  let step = 1;
  while (index < pages.length) {
    const page = pages[index];
    if (page && (!page.applies || page.applies(answers))) {
      const answer = await page.ask(asker, answers);
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

/** The last page. @returns whether the campaign can be started */
async function show(asker: Asker, request: Request, packageFolder: string): Promise<boolean> {
  let lines: string[];
  let warnings: string[];
  try {
    const found = await preview(request, packageFolder);
    lines = previewLines(found);
    const checks = await examine(request.runtime, packageFolder);
    warnings = checks
      .filter(({ status }) => status !== "ok")
      .map(({ check, text, mend }) => `${check}: ${text}${mend ? ` – ${mend}` : ""}`);
    if (found.estimate.seconds > LONG_S)
      warnings.push("this takes long: fewer runs or a shorter duration would do");
  } catch (error) {
    asker.show("This cannot be run", [messageOf(error)]);
    return false;
  }
  asker.show("The plan", lines);
  if (warnings.length > 0) asker.show("Warnings", warnings);
  asker.show("The same without the menu", [request.command]);
  return true;
}
