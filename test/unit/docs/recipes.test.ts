import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { numberWord } from "../../../src/kit/numbers.js";
import { auditPlan } from "../../../src/orchestrator/audit/audit-plan.js";
import { checks } from "../../../src/orchestrator/audit/checks/index.js";
import { planOf, withExpectedTrials } from "../../../src/orchestrator/max-rate/searched-rates.js";
import { estimateCampaignS, overheadsOf } from "../../../src/orchestrator/plan/estimate.js";
import { ROOT } from "../../helpers/programs.js";
import { everything, parsed } from "../../helpers/request.js";

const PRINTED_MINUTES = /\((?<minutes>\d+) min(?: each)?\)/g;

interface Recipe {
  words: string[];
  minutes: number;
}

/** The words of a command of a recipe; undefined for a comment. */
function wordsOf(line: string): string[] | undefined {
  const [command = ""] = line.split("    #");
  const words = [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  if (command.startsWith("./scripts/run-all.sh ")) return ["run", ...words.slice(1)];
  if (command.startsWith("./scripts/check-config.sh ")) return ["doctor", ...words.slice(1)];
  return command.startsWith("node dist/orchestrator/cli.js ") ? words.slice(2) : undefined;
}

/**
 * The commands of a recipe, whose first line is a comment. Several minutes in it are those of the
 * commands in their order; a single number is that of each.
 */
function commandsOf(recipe: string): Recipe[] {
  const [comment = "", ...lines] = recipe.trim().split("\n");
  const minutes = [...comment.matchAll(PRINTED_MINUTES)].map(({ groups }) =>
    Number(groups?.minutes),
  );
  expect([1, lines.length]).toContain(minutes.length);
  return lines.map((line, index) => ({
    words: wordsOf(line) ?? [],
    minutes: minutes[index] ?? minutes[0] ?? 0,
  }));
}

/** The commands of the README's recipes. */
function recipes(): Recipe[] {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, text = ""] = /^## Recipes$.*?^```bash\n(.*?)^```$/ms.exec(readme) ?? [];
  return text.split("\n\n").flatMap(commandsOf);
}

/** Without the files of the reader, which change nothing in the time. */
function withoutFiles(words: readonly string[]): string[] {
  const isOfFile = (word: string | undefined) => word === "--plugin" || word === "--trace";
  return words
    .filter((word, index) => !isOfFile(word) && !isOfFile(words[index - 1]))
    .map((word) => word.replace("my-client", "iovalkey"));
}

/** The minutes that a campaign in containers is planned to take at most. */
async function campaignMinutes(words: readonly string[]): Promise<number> {
  // What was learnt on this machine is in no README.
  vi.stubEnv("XDG_STATE_HOME", "/no/such/folder");
  const request = parsed([...withoutFiles(words), "--seed", "1"]);
  const plan = withExpectedTrials(planOf(request, everything), new Map());
  const seconds = estimateCampaignS(plan, await overheadsOf("docker", plan.order));
  const budget_s = request.rounds.adaptive?.budgetS ?? plan.max_rate?.budget_s;
  return Math.min(seconds, budget_s ?? seconds) / 60;
}

/** The minutes that a command of a recipe takes; undefined for one that measures nothing. */
async function plannedMinutes([name, ...words]: readonly string[]): Promise<number | undefined> {
  if (name === "run") return campaignMinutes(words);
  if (name === "audit") return auditPlan(parsed(words).targets, checks).seconds / 60;
  if (name === "doctor") return Number(words[words.indexOf("--seconds") + 1]) / 60;
  return undefined;
}

test.each(recipes())("a recipe takes the minutes that it names: $words", async (recipe) => {
  const minutes = await plannedMinutes(recipe.words);
  if (minutes === undefined) {
    expect(recipe.words[0]).toBe("compare");
    return;
  }
  expect(recipe.minutes).toBeLessThanOrEqual(15);
  expect(Math.abs(minutes - recipe.minutes)).toBeLessThanOrEqual(0.5);
});

test("a quick campaign takes the minutes that pages name", async () => {
  const minutes = numberWord(Math.round(await campaignMinutes(["--quick"])));
  const read = (page: string) => readFileSync(join(ROOT, page), "utf8");
  expect(read("README.md")).toContain(
    `--quick    # a first report from real measurements, in about ${minutes} minutes`,
  );
  expect(read("docs/campaigns.md")).toContain(`- \`quick\`: a first report in ${minutes} minutes:`);
});

test("a campaign of two apps takes the minutes that its page names", async () => {
  const minutes = await campaignMinutes(["--app", "a=node a.js", "--app", "b=node b.js"]);
  expect(readFileSync(join(ROOT, "docs/apps.md"), "utf8")).toContain(
    `two apps take about ${numberWord(Math.round(minutes))} minutes`,
  );
});
