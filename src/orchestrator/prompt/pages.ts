import { messageOf } from "../../contract/errors.js";
import { runtimes } from "../../runtimes/index.js";
import { profiles } from "../../traffic/profiles.js";
import { durationMode, listOf, numberIn } from "../request/request.js";
import { type Answers, clientGroups, startableStores, usesStore } from "./answers.js";
import { BACK, type Back, type Choice, type Prompter } from "./prompter.js";

/** One question of the menu. */
export interface Page {
  title: string;
  /** Whether there is anything to ask, after the answers so far. */
  applies?(answers: Answers): boolean;
  ask(prompter: Prompter, answers: Answers): Promise<Partial<Answers> | Back>;
}

/** What is wrong with a text, by the parser that will read it in the end. */
const wrongBy =
  (parse: (text: string) => unknown) =>
  (text: string): string | undefined => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };

async function answered<Key extends keyof Answers>(
  key: Key,
  asking: Promise<Answers[Key] | Back>,
): Promise<Partial<Answers> | Back> {
  const answer = await asking;
  return answer === BACK ? BACK : ({ [key]: answer } as Partial<Answers>);
}

const CUSTOM = "custom";

/** A choice among some texts, or one that is typed; going back from typing returns to the choice. */
async function oneOrTyped(
  prompter: Prompter,
  message: string,
  choices: readonly Choice[],
  current: string,
  typed: { message: string; initial: string; wrong: (text: string) => string | undefined },
): Promise<string | Back> {
  for (;;) {
    const initial = choices.some(({ value }) => value === current) ? current : CUSTOM;
    const other = { value: CUSTOM, label: "other" };
    const choice = await prompter.one(message, [...choices, other], initial);
    if (choice !== CUSTOM) return choice;
    const text = await prompter.text(typed.message, typed.initial, typed.wrong);
    if (text !== BACK) return text;
  }
}

const choices = (ids: readonly string[]): Choice[] => ids.map((value) => ({ value }));

const connections = wrongBy((text) =>
  listOf("concurrency", text, []).map((each) => numberIn("connections", "concurrency", each)),
);

export const pages: readonly Page[] = [
  {
    title: "Clients",
    ask(prompter, { clients }) {
      const groups = Object.entries(clientGroups()).map(([name, ids]) => [name, choices(ids)] as const);
      return answered(
        "clients",
        prompter.many("Which clients? (Space takes one or a group)", Object.fromEntries(groups), clients),
      );
    },
  },
  {
    title: "Stores",
    applies: usesStore,
    ask(prompter, { stores }) {
      const own = { value: "own", label: "each client's own", hint: "ioredis: Redis, the others: Valkey" };
      const all = startableStores().map((value) => ({ value, hint: `every client on ${value}` }));
      return answered("stores", prompter.many("On which store?", { stores: [own, ...all] }, stores));
    },
  },
  {
    title: "Workload",
    ask(prompter, { workload }) {
      const all = [
        { value: "light", hint: "a minimal answer: the limiter is most of the work" },
        { value: "heavy", hint: "CPU work in each request" },
        { value: "both" },
      ];
      return answered("workload", prompter.one("Which workload?", all, workload));
    },
  },
  {
    title: "Complexity",
    applies: ({ workload }) => workload !== "light",
    ask(prompter, { complexity }) {
      const wrong = wrongBy((text) => numberIn("complexity", "complexity", text));
      return answered(
        "complexity",
        prompter.text("Rounds of CPU work of a heavy request?", complexity, wrong),
      );
    },
  },
  {
    title: "Traffic",
    ask(prompter, { traffic }) {
      const all = profiles.map(({ id, summary }) => ({ value: id, hint: summary }));
      return answered("traffic", prompter.many("Which traffic?", { traffic: all }, traffic));
    },
  },
  {
    title: "Duration",
    ask(prompter, { duration }) {
      const all = [
        { value: "dynamic", hint: "120 s, 180 s above 100 connections, 30 s more for clusters" },
        { value: "fixed30", label: "30 s" },
        { value: "fixed120", label: "120 s" },
      ];
      const asked = oneOrTyped(prompter, "How long is each run measured?", all, duration, {
        message: "How many seconds?",
        initial: "10",
        wrong: wrongBy((text) => durationMode(`custom:${text}`, "duration")),
      });
      const asMode = asked.then((answer) =>
        answer !== BACK && /^\d+$/.test(answer) ? `custom:${answer}` : answer,
      );
      return answered("duration", asMode);
    },
  },
  {
    title: "Concurrency",
    ask(prompter, { concurrency }) {
      const all = [
        { value: "50 100", label: "light: 50 100" },
        { value: "50 100 500", label: "medium: 50 100 500" },
        { value: "50 100 500 1000", label: "heavy: 50 100 500 1000" },
        { value: "100 500 1000 2000", label: "extreme: 100 500 1000 2000" },
      ];
      return answered(
        "concurrency",
        oneOrTyped(prompter, "How many connections?", all, concurrency, {
          message: "Numbers of connections, with spaces between?",
          initial: "50",
          wrong: connections,
        }),
      );
    },
  },
  {
    title: "Runs",
    ask(prompter, { runs }) {
      const wrong = wrongBy((text) => text === "auto" || numberIn("runs", "runs", text));
      const message = "How many runs each? (5 or more name a winner; auto: as many as it takes)";
      return answered("runs", prompter.text(message, runs, wrong));
    },
  },
  {
    title: "Runtime",
    async ask(prompter, { runtime }) {
      const looking = runtimes.map(async ({ id, available }) => {
        const answer = await available();
        if ("what" in answer) return { value: id, hint: answer.what };
        return { value: id, hint: `not here: ${answer.unavailableReason}`, disabled: true };
      });
      const found = await prompter.during("looking for container engines", Promise.all(looking));
      const auto = { value: "auto", hint: "the first of these that works" };
      return answered("runtime", prompter.one("Where does it run?", [auto, ...found], runtime));
    },
  },
];
