import { z } from "zod";
import { byDimension, dimensions } from "../../contract/dimensions.js";
import { driverLayerIds } from "../../contract/layers.js";
import type { Discovery } from "../../contract/store.js";
import { inOneLine, messageOf, usageError } from "../../kit/errors.js";
import { runtimesFor } from "../../runtimes/index.js";
import { CUSTOM_DURATION } from "../request/durations.js";
import type { SettingChoice } from "../request/setting-types.js";
import { AUTO, countsIn, durationMode, listOf, numberIn } from "../request/setting-values.js";
import { settingOf } from "../request/settings.js";
import { goals } from "./goals.js";
import {
  clientGroups,
  DEFAULT_ANSWERS,
  type LimitFlag,
  type MenuAnswers,
  OWN_STORE,
  offeredClients,
  startableStores,
  usesStore,
} from "./menu-answers.js";
import { BACK, type MenuOption, type Prompter, problemFrom } from "./prompter.js";

export interface Page {
  title: string;
  /** The answer that it asks for. Only goals that ask for it have the page. */
  key: keyof MenuAnswers;
  /** Whether the question applies to the answers so far. A page without this always applies. */
  applies?(answers: MenuAnswers): boolean;
  /** Whether most users keep the default, so that the page is asked only to change an answer. */
  advanced?: true;
  ask(prompter: Prompter, answers: MenuAnswers): Promise<Partial<MenuAnswers> | typeof BACK>;
}

const page = <Key extends keyof MenuAnswers>(
  title: string,
  key: Key,
  ask: (prompter: Prompter, answers: MenuAnswers) => Promise<MenuAnswers[Key] | typeof BACK>,
): Page => ({
  title,
  key,
  async ask(prompter, answers) {
    const answer = await ask(prompter, answers);
    return answer === BACK ? BACK : ({ [key]: answer } as Partial<MenuAnswers>);
  },
});

const OTHER = "other";

/**
 * Asks for one of the options or a typed text, which is offered again. Going back from the text
 * returns to the options.
 */
async function selectOrType(
  prompter: Prompter,
  message: string,
  options: readonly MenuOption[],
  current: string,
  typed: { message: string; initial: string; problemOf: (text: string) => string | undefined },
): Promise<string | typeof BACK> {
  for (;;) {
    const initial = options.some(({ value }) => value === current) ? current : OTHER;
    const selected = await prompter.selectOne(message, [...options, { value: OTHER }], initial);
    if (selected !== OTHER) return selected;
    const text = await prompter.text(typed.message, typed.initial, typed.problemOf);
    if (text !== BACK) return text;
  }
}

const choicesOf = (key: string): readonly SettingChoice[] => settingOf(key).choices?.() ?? [];

const connectionsProblem = problemFrom((text) =>
  listOf("concurrency", text, []).map((word) => numberIn("connections", "concurrency", word)),
);

const dimensionPage = (dimension: (typeof dimensions)[number]): Page => {
  const { key, question } = dimension;
  return {
    title: key.charAt(0).toUpperCase() + key.slice(1),
    key: "counts",
    advanced: true,
    applies: ({ layers }) => dimension.layers.some((layer) => layers.includes(layer)),
    async ask(prompter, { counts }) {
      const problem = problemFrom((text) => countsIn(dimension, key, text, []));
      const answer = await prompter.text(`${question}, separated by spaces?`, counts[key], problem);
      return answer === BACK ? BACK : { counts: { ...counts, [key]: answer } };
    },
  };
};

const limitPage = (key: LimitFlag, title: string, question: string): Page => ({
  title,
  key: "limits",
  advanced: true,
  async ask(prompter, { limits }) {
    const problem = problemFrom(
      (text) => text.trim() === "" || listOf(key, text, []).map((word) => numberIn(key, key, word)),
    );
    const message = `${question}, separated by spaces? (empty: that of the traffic)`;
    const answer = await prompter.text(message, limits[key], problem);
    return answer === BACK ? BACK : { limits: { ...limits, [key]: answer.trim() } };
  },
});

const ratesProblem = problemFrom((text) =>
  listOf("rate", text, []).map((rate) => numberIn("rate", "rate", rate, false)),
);

/** The terminal keeps what is typed, and a password must not stay there. */
const addressProblem = problemFrom((text) => {
  const address = z.url({ protocol: /^rediss?$/ }).safeParse(text);
  if (!address.success) throw usageError("give redis://host:port or rediss://host:port");
  if (new URL(text).password !== "")
    throw usageError("a password would stay on the screen: leave the menu and set STORE_URL");
});

/**
 * The first question.
 * @param times how long each goal takes with its default answers, by id. A goal that asks how long
 *   to measure has none before it is answered.
 */
export const goalPage = (times: Readonly<Record<string, string>>): Page =>
  page("What to do", "goal", (prompter, { goal }) => {
    const options = goals.map(({ id, label, hint, asks }) => ({
      value: id,
      label:
        times[id] === undefined || asks.includes("duration") ? label : `${label} (${times[id]})`,
      hint,
    }));
    return prompter.selectOne("What do you want to do?", options, goal);
  });

/**
 * Asks where the user's store is until one answers there, and selects the clients that it serves.
 * @param contact discovers the store at an address
 */
export const addressPage = (contact: (url: string) => Promise<Discovery>): Page => ({
  title: "Address",
  key: "ownStore",
  async ask(prompter, { ownStore }) {
    let initial = ownStore?.url ?? "";
    for (;;) {
      const url = await prompter.text("Where is the store?", initial, addressProblem);
      if (url === BACK) return BACK;
      try {
        const discovery = await prompter.showWhile("contacting the store", contact(url));
        const isKnown = isSameStore(discovery, ownStore?.found);
        return {
          ownStore: { url, found: discovery },
          ...(isKnown ? {} : { clients: offeredClients(discovery) }),
        };
      } catch (error) {
        prompter.show("This store cannot be measured", [inOneLine(messageOf(error))]);
        initial = url;
      }
    }
  },
});

const isSameStore = (discovery: Discovery, earlier: Discovery | undefined): boolean =>
  discovery.store === earlier?.store && discovery.topology === earlier.topology;

export const pages: readonly Page[] = [
  page("Rates", "rates", (prompter, { rates }) =>
    prompter.text("How many requests/s, separated by spaces?", rates, ratesProblem),
  ),
  page("Clients", "clients", (prompter, { clients, ownStore }) => {
    const groups = Object.entries(clientGroups(ownStore?.found)).map(
      ([name, ids]) => [name, ids.map((value) => ({ value }))] as const,
    );
    const message = "Which clients? (Space selects one or a group)";
    return prompter.selectMany(message, Object.fromEntries(groups), clients);
  }),
  {
    applies: usesStore,
    ...page("Stores", "stores", (prompter, { stores }) => {
      const hint = "ioredis on Redis, iovalkey on Valkey: not compared with each other";
      const ownStore = { value: OWN_STORE, label: "each client's own", hint };
      const sharedStores = startableStores().map((value) => ({
        value,
        hint: `every client that can use ${value}: compared with each other`,
      }));
      const options = { stores: [...sharedStores, ownStore] };
      return prompter.selectMany("On which store?", options, stores);
    }),
  },
  {
    title: "Layers",
    key: "layers",
    advanced: true,
    async ask(prompter, { layers, counts: currentCounts }) {
      const answer = await prompter.selectMany(
        "Where does the load enter? (the store layer: see docs/store-layer.md)",
        {
          layers: choicesOf("layer").filter(({ value }) =>
            driverLayerIds.some((id) => id === value),
          ),
        },
        layers,
      );
      if (answer === BACK) return BACK;
      // A layer that is not measured has nothing to count.
      const counts = byDimension(({ key, layers: layersOfDimension }) => {
        const isMeasured = layersOfDimension.some((layer) => answer.includes(layer));
        return isMeasured ? currentCounts[key] : DEFAULT_ANSWERS.counts[key];
      });
      return { layers: answer, counts };
    },
  },
  ...dimensions.map(dimensionPage),
  page("Workload", "workload", (prompter, { workload }) =>
    prompter.selectOne("Which workload?", choicesOf("workload"), workload),
  ),
  {
    applies: ({ workload }) => workload !== "light",
    ...page("Complexity", "complexity", (prompter, { complexity }) => {
      const problemOf = problemFrom((text) => numberIn("complexity", "complexity", text));
      return prompter.text("Rounds of CPU work of a heavy request?", complexity, problemOf);
    }),
  },
  page("Traffic", "traffic", (prompter, { traffic }) =>
    prompter.selectMany("Which traffic?", { traffic: choicesOf("traffic") }, traffic),
  ),
  limitPage("points", "Points", "Quotas of each key"),
  limitPage("window", "Window", "Windows of the quota in seconds"),
  limitPage("cost", "Cost", "Points that a request uses"),
  page("Duration", "duration", async (prompter, { duration }) => {
    const modes = [
      { value: DEFAULT_ANSWERS.duration, label: "5 seconds" },
      ...choicesOf("duration-mode").filter(({ value }) => !value.endsWith(":")),
    ];
    const answer = await selectOrType(prompter, "How long is each run measured?", modes, duration, {
      message: "How many seconds?",
      initial: duration.startsWith(CUSTOM_DURATION) ? duration.slice(CUSTOM_DURATION.length) : "10",
      problemOf: problemFrom((text) => durationMode(`${CUSTOM_DURATION}${text}`, "duration")),
    });
    return answer !== BACK && /^\d+$/.test(answer) ? `${CUSTOM_DURATION}${answer}` : answer;
  }),
  page("Concurrency", "concurrency", (prompter, { concurrency }) => {
    const options = [
      { value: DEFAULT_ANSWERS.concurrency },
      { value: "50 100", label: "light: 50 100" },
      { value: "50 100 500", label: "medium: 50 100 500" },
      { value: "50 100 500 1000", label: "heavy: 50 100 500 1000" },
      { value: "100 500 1000 2000", label: "extreme: 100 500 1000 2000" },
    ];
    return selectOrType(prompter, "How many connections?", options, concurrency, {
      message: "Numbers of connections, separated by spaces?",
      initial: options.some(({ value }) => value === concurrency)
        ? DEFAULT_ANSWERS.concurrency
        : concurrency,
      problemOf: connectionsProblem,
    });
  }),
  page("Runs", "runs", (prompter, { runs }) => {
    const problemOf = problemFrom(
      (text) => text === AUTO || numberIn("runs", "runs", text, true, AUTO),
    );
    const message = "How many runs each? (7 or more name a winner; auto: as many as it takes)";
    return prompter.text(message, runs, problemOf);
  }),
  page("Runtime", "runtime", async (prompter, { runtime }) => {
    const pendingOptions = choicesOf("runtime").map(async (choice): Promise<MenuOption> => {
      const availability = await runtimesFor({})
        .find(({ id }) => id === choice.value)
        ?.available();
      if (!availability) return choice;
      if ("what" in availability) return { ...choice, hint: availability.what };
      return { ...choice, hint: `not here: ${availability.unavailableReason}`, disabled: true };
    });
    const options = await prompter.showWhile(
      "looking for container engines",
      Promise.all(pendingOptions),
    );
    return prompter.selectOne("Where does it run?", options, runtime);
  }),
];
