import { describe, expect, test } from "vitest";
import { parseCampaign } from "../../../src/orchestrator/args.js";
import { makePlan } from "../../../src/orchestrator/plan.js";
import {
  type Answers,
  clientGroups,
  FIRST_ANSWERS,
  wordsOf,
} from "../../../src/orchestrator/prompt/answers.js";
import { type Asker, BACK, Cancelled } from "../../../src/orchestrator/prompt/asker.js";
import { pages } from "../../../src/orchestrator/prompt/pages.js";
import { everything } from "../../helpers/request.js";

const words = (answers: Partial<Answers>) => wordsOf({ ...FIRST_ANSWERS, ...answers }).join(" ");

describe("the command line of the menu's answers", () => {
  test("names what differs from the defaults, and a group that is whole by its name", () => {
    expect(words({})).toBe("--clients standalone,controls");
    expect(words({ clients: ["iovalkey", "none"], runs: "5", concurrency: "8 9" })).toBe(
      "--clients iovalkey,none --concurrency 8 9 --runs 5",
    );
    const all = Object.values(clientGroups()).flat();
    expect(words({ clients: all })).toBe("--clients all,controls,node-redis,node-redis:cluster");
  });

  test("puts each client on each store, but no control", () => {
    const clients = ["iovalkey", "ioredis:cluster", "memory"];
    expect(words({ clients, stores: ["own", "redis"] })).toBe(
      "--clients iovalkey,ioredis:cluster,memory,iovalkey@redis,ioredis@redis:cluster",
    );
  });

  test("is one that the parser takes, for every client, store and traffic that there is", () => {
    const answers: Answers = {
      ...FIRST_ANSWERS,
      clients: Object.values(clientGroups()).flat(),
      stores: ["own", "valkey", "redis"],
      workload: "both",
      complexity: "3",
      traffic: ["hot", "fixed"],
      duration: "custom:7",
    };
    const request = parseCampaign(wordsOf(answers), {});
    if (!request) throw new Error("help was printed");
    expect(makePlan(request, everything).skips.map(({ asked }) => asked)).toEqual([
      "valkey-glide@redis",
      "iovalkey@redis",
      "valkey-glide@redis:cluster",
      "iovalkey@redis:cluster",
    ]);
  });
});

/** Answers from a list; a question that has none left gives up. */
function answering(...answers: (string | string[] | typeof BACK)[]): Asker {
  const next = async () => {
    const answer = answers.shift();
    if (answer === undefined) throw new Cancelled();
    return answer as never;
  };
  return { one: next, many: next, text: next, show: () => {} };
}

test("going back from a text that is typed leads to the choice before it", async () => {
  const page = pages.find(({ title }) => title === "Duration");
  const answer = await page?.ask(answering("custom", BACK, "custom", "45"), FIRST_ANSWERS);
  expect(answer).toEqual({ duration: "custom:45" });
});
