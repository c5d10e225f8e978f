import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { planOf, withExpectedTrials } from "../../../src/orchestrator/max-rate/searched-rates.js";
import { estimateCampaignS, overheadsOf } from "../../../src/orchestrator/plan/estimate.js";
import { ROOT } from "../../helpers/programs.js";
import { everything, parsed } from "../../helpers/request.js";

const TOLD_MINUTES = /\((?<minutes>\d+) min(?: each)?\)/g;

/** The campaigns of the README's recipes: a comment, then commands without quotes in words. */
function recipes(): { words: string[]; minutes: number }[] {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, text = ""] = /^## Recipes$.*?^```bash\n(.*?)^```$/ms.exec(readme) ?? [];
  return text.split("\n\n").flatMap((recipe) => {
    const minutes = [...recipe.matchAll(TOLD_MINUTES)].map(({ groups }) => Number(groups?.minutes));
    const commands = recipe.split("\n").filter((line) => line.startsWith("./scripts/run-all.sh "));
    return commands.map((command) => ({
      words: command
        .split(" ")
        .slice(1)
        .map((word) => word.replaceAll('"', "")),
      minutes: Math.max(...minutes),
    }));
  });
}

/** Without the files of the reader, which change nothing in the time. */
function withoutFiles(words: readonly string[]): string[] {
  const isOfFile = (word: string | undefined) => word === "--plugin" || word === "--trace";
  return words
    .filter((word, index) => !isOfFile(word) && !isOfFile(words[index - 1]))
    .map((word) => word.replace("my-client", "iovalkey"));
}

test.each(recipes())("a recipe takes the minutes that it names: $words", async (recipe) => {
  // What was learnt on this machine is in no README.
  vi.stubEnv("XDG_STATE_HOME", "/no/such/folder");
  const request = parsed([...withoutFiles(recipe.words), "--seed", "1"]);
  const plan = withExpectedTrials(planOf(request, everything), new Map());
  const minutes = estimateCampaignS(plan, await overheadsOf("local", plan.order)) / 60;
  const budgetS = request.rounds.adaptive?.budgetS ?? plan.max_rate?.budget_s;
  expect(budgetS === undefined ? minutes : Math.min(minutes, budgetS / 60)).toBeLessThanOrEqual(
    recipe.minutes + 0.5,
  );
  expect(recipe.minutes).toBeLessThanOrEqual(15);
});
