import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import type { Discovery } from "../../../../src/contract/store.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { answersFrom, argvFrom, goals } from "../../../../src/orchestrator/prompt/goals.js";
import { commandSoFar } from "../../../../src/orchestrator/prompt/menu.js";
import {
  argvOf,
  clientGroups,
  DEFAULT_ANSWERS,
  type MenuAnswers,
} from "../../../../src/orchestrator/prompt/menu-answers.js";
import { addressPage, goalPage, pages } from "../../../../src/orchestrator/prompt/pages.js";
import {
  BACK,
  Cancelled,
  type MenuOption,
  type Prompter,
} from "../../../../src/orchestrator/prompt/prompter.js";
import { wrapCommand } from "../../../../src/orchestrator/ui/command-lines.js";
import { groups } from "../../../../src/targets/target-groups.js";
import { everything, parsed } from "../../../helpers/request.js";

const words = (answers: Partial<MenuAnswers>) =>
  argvOf({ ...DEFAULT_ANSWERS, ...answers }).join(" ");

describe("the command line of the menu's answers", () => {
  test("names only what differs from the defaults, and a whole group by its name", () => {
    const defaults = "--duration-mode custom:5 --concurrency 50 --runs 7";
    expect(words({})).toBe(
      `--clients valkey-glide,iovalkey,ioredis@valkey,node-redis@valkey,none ${defaults}`,
    );
    expect(words({ clients: ["iovalkey", "none"], runs: "5", concurrency: "8 9" })).toBe(
      "--clients iovalkey,none --duration-mode custom:5 --concurrency 8 9 --runs 5",
    );
    const everyClient = Object.values(clientGroups()).flat();
    const members = new Set([groups.all, groups.controls].flat());
    const others = everyClient.filter((client) => !members.has(client));
    expect(words({ clients: everyClient, stores: ["own"] })).toBe(
      `--clients all,controls,${others.join()} ${defaults}`,
    );
  });

  test("is valid for every client, store and traffic", () => {
    const answers: MenuAnswers = {
      ...DEFAULT_ANSWERS,
      clients: Object.values(clientGroups()).flat(),
      stores: ["own", "valkey", "redis"],
      workload: "both",
      complexity: "3",
      traffic: ["hot", "fixed"],
      duration: "custom:7",
    };
    // A client keeps its own store where it cannot use the chosen one.
    expect(makePlan(parsed(argvOf(answers)), everything).skips).toEqual([]);
  });

  test.each(goals)("of the goal $id is valid as it is offered", ({ id, isAudit }) => {
    const { ownStore } = answersFrom({ goal: id });
    const request = parsed(argvFrom({ goal: id }), ownStore ? { STORE_URL: ownStore.url } : {});
    if (!isAudit) expect(makePlan(request, everything).configurations.length).toBeGreaterThan(1);
  });

  test("of a preset names clients only where others were chosen", () => {
    const clients = answersFrom({ goal: "quick" }).clients;
    expect(argvFrom({ goal: "quick", clients: [...clients].reverse() })).toEqual(["--quick"]);
    expect(argvFrom({ goal: "standard", clients: ["iovalkey", "node-redis"] }).join(" ")).toBe(
      "--preset standard --clients iovalkey,node-redis@valkey",
    );
  });

  test("has a time before it is given, unless it says how long to measure", async () => {
    const labels: string[] = [];
    const prompter = {
      ...answering("quick"),
      selectOne: async (_: string, options: readonly MenuOption[]) => {
        labels.push(...options.map(({ label = "" }) => label));
        return "quick";
      },
    };
    const times = Object.fromEntries(goals.map(({ id }) => [id, "9 min"]));
    await goalPage(times).ask(prompter, DEFAULT_ANSWERS);
    expect(labels.filter((label) => !label.includes("9 min"))).toEqual(["Something else"]);
  });

  test("of another goal forgets answers that it does not ask for", () => {
    const typed = { goal: "custom", clients: ["iovalkey"], concurrency: "8" };
    expect(argvFrom(typed).join(" ")).toContain("--concurrency 8");
    expect(argvFrom({ ...typed, goal: "rates" }).join(" ")).toBe(
      "--clients iovalkey --duration-mode custom:10 --rate 1000 --runs 6",
    );
  });
});

/** Answers from a list; cancels when the list is empty. */
function answering(...answers: (string | string[] | typeof BACK)[]): Prompter {
  const next = async () => {
    const answer = answers.shift();
    if (answer === undefined) throw new Cancelled();
    return answer as never;
  };
  const nothing = () => {};
  return {
    selectOne: next,
    selectMany: next,
    text: next,
    columns: 76,
    linesAbove: () => 60,
    show: nothing,
    showCommand: nothing,
    showWhile: (_activity, work) => work,
  };
}

test("going back from a typed text leads to the options before it", async () => {
  const page = pages.find(({ title }) => title === "Duration");
  const answer = await page?.ask(answering("other", BACK, "other", "45"), DEFAULT_ANSWERS);
  expect(answer).toEqual({ duration: "custom:45" });
});

test("a typed text is offered again", async () => {
  const offered: string[] = [];
  const prompter: Prompter = {
    ...answering("other", "other"),
    text: async (_message, initial) => {
      offered.push(initial);
      return initial;
    },
  };
  const answers = { ...DEFAULT_ANSWERS, duration: "custom:45", concurrency: "8 9" };
  for (const title of ["Duration", "Concurrency"])
    await pages.find((page) => page.title === title)?.ask(prompter, answers);
  expect(offered).toEqual(["45", "8 9"]);
});

test("where only the limiter is called, the menu drops the number of servers", async () => {
  const page = pages.find(({ title }) => title === "Layers");
  const answers = { ...DEFAULT_ANSWERS, counts: { ...DEFAULT_ANSWERS.counts, servers: "1 2" } };
  expect(argvOf(answers)).toContain("--servers");
  const answer = await page?.ask(answering(["limiter"]), answers);
  expect(argvOf({ ...answers, ...(answer as Partial<MenuAnswers>) }).join(" ")).toBe(
    "--clients valkey-glide,iovalkey,ioredis@valkey,node-redis@valkey,none --layer limiter --duration-mode custom:5 --concurrency 50 --runs 7",
  );
});

describe("a store of the user", () => {
  const url = "redis://127.0.0.1:16399";
  const asked = (found: Discovery, ...answers: string[]) =>
    addressPage(async (address) => {
      if (address !== url) throw new Error(`${address} does not answer`);
      return found;
    }).ask(answering(...answers), answersFrom({ goal: "store" }));

  test.each([
    { store: "redis", topology: "standalone", clients: ["ioredis", "node-redis", "none"] },
    {
      store: "valkey",
      topology: "standalone",
      clients: ["valkey-glide", "iovalkey", "ioredis", "node-redis", "none"],
    },
    {
      store: "redis",
      topology: "cluster",
      clients: ["ioredis:cluster", "node-redis:cluster", "none"],
    },
  ])(
    "that is $store, $topology, is measured with the clients that it serves, and with no others",
    async ({ store, topology, clients }) => {
      const found = { store, version: "8.0.0", topology, nodes: [] };
      const answer = (await asked(found, url)) as Partial<MenuAnswers>;
      expect(answer.clients).toEqual(clients);
      const request = parsed(argvFrom({ goal: "store", ...answer }), { STORE_URL: url });
      const context = { available: (id: string) => id === store, external: found };
      const plan = makePlan(request, context);
      expect(plan.skips).toEqual([]);
      const labels = plan.configurations.map(({ configuration }) => configuration.target.client);
      expect(new Set(labels).size).toBe(clients.length);

      const offered = Object.values(clientGroups(found)).flat();
      expect(offered).toEqual(expect.arrayContaining(clients));
      expect(offered.includes("iovalkey")).toBe(clients.includes("iovalkey"));
    },
  );

  test("is asked for until it answers", async () => {
    const found = { store: "redis", version: "8.0.0", topology: "standalone", nodes: [] };
    const answer = await asked(found, "redis://127.0.0.1:1", url);
    expect(answer).toMatchObject({ ownStore: { url, found } });
  });

  test("is named in the command so far", () => {
    const answers = { goal: "store", ownStore: { url } };
    expect(commandSoFar(answers, { flags: [] })).toMatch(new RegExp(`^STORE_URL=${url} \\S+run`));
  });
});

describe("a command line over several lines", () => {
  const command =
    "A='x  --y' ./run.sh --clients standalone,controls --concurrency '50 100' --name 'it'\\''s' --seed 7";

  test("is the same to a shell", () => {
    for (const columns of [20, 40, 79]) {
      const argumentsOf = (text: string) =>
        spawnSync("sh", ["-c", `set -- ${text}\nprintf '<%s>' "$@"`], { encoding: "utf8" }).stdout;
      expect(argumentsOf(wrapCommand(command, columns).join("\n"))).toBe(argumentsOf(command));
    }
    expect(spawnSync("sh", ["-c", `set -- ${command}; echo $#`], { encoding: "utf8" }).stdout).toBe(
      "10\n",
    );
  });

  test("fits into the columns, keeps each value beside its flag, and leaves longer pieces whole", () => {
    expect(Math.max(...wrapCommand(command, 40).map((line) => line.length))).toBeLessThanOrEqual(
      40,
    );
    expect(wrapCommand("a", 79)).toEqual(["a"]);
    expect(wrapCommand("./run.sh --runs 3 --seed 7", 19)).toEqual([
      "./run.sh --runs 3 \\",
      "  --seed 7",
    ]);
  });
});
