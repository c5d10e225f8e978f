import { isDeepStrictEqual } from "node:util";
import { definedOnly } from "../../kit/defined-only.js";
import { PRESETS } from "../request/presets.js";
import { argvOf, clientsValue, DEFAULT_ANSWERS, type MenuAnswers } from "./menu-answers.js";

/** What somebody wants to know: an option of the menu's first question. */
export interface Goal {
  id: string;
  label: string;
  /** What it shows; the menu writes the time of its default answers before it. */
  hint: string;
  /** The answers that are asked for; the others keep the goal's defaults. */
  asks: readonly (keyof MenuAnswers)[];
  /** Where they differ from those of the menu. */
  defaults?: Partial<MenuAnswers>;
  /** Flags in the place of those of the answers, beside clients that the user chose. */
  argv?: readonly string[];
  /** It checks promises, and measures no speed. */
  isAudit?: true;
}

/** The clients of a preset, without the store that they share. */
function clientsOf(presetId: string): string[] {
  const preset = PRESETS.find(({ id }) => id === presetId);
  return (preset?.settings.clients ?? "").split(",").map((text) => text.replace(/@.*/, ""));
}

export const goals: readonly Goal[] = [
  {
    id: "quick",
    label: "Compare clients quickly",
    hint: "finds the larger differences",
    asks: ["clients"],
    defaults: { clients: clientsOf("quick") },
    argv: ["--quick"],
  },
  {
    id: "standard",
    label: "Compare clients well",
    hint: "at two loads, enough to name a winner",
    asks: ["clients"],
    defaults: { clients: clientsOf("standard") },
    argv: ["--preset", "standard"],
  },
  {
    id: "rates",
    label: "Measure at my rates",
    hint: "latency and CPU at the requests/s that you have",
    asks: ["rates", "clients", "stores", "workload", "runtime"],
    defaults: { rates: "1000", duration: "custom:10", concurrency: "", runs: "6" },
  },
  {
    id: "audit",
    label: "Check promises",
    hint: "whether limiters admit what they say; no speed",
    asks: ["clients", "stores", "runtime"],
    defaults: { duration: "", concurrency: "", runs: "" },
    isAudit: true,
  },
  {
    id: "store",
    label: "Measure on my own store",
    hint: "a Valkey or Redis that already runs",
    asks: ["ownStore", "clients", "concurrency", "runs"],
    defaults: { ownStore: { url: "redis://127.0.0.1:6379" } },
  },
  {
    id: "custom",
    label: "Something else",
    hint: "one question each: clients, stores, traffic, load, …",
    asks: [
      "clients",
      "stores",
      "layers",
      "counts",
      "workload",
      "complexity",
      "traffic",
      "limits",
      "duration",
      "concurrency",
      "runs",
      "runtime",
    ],
  },
];

const firstGoal = goals[0] as Goal;

/** The goal of the answers; the first one before it is answered. */
export const goalOf = ({ goal }: { goal?: string | undefined }): Goal =>
  goals.find(({ id }) => id === goal) ?? firstGoal;

/** All answers: those that were given and that the goal asks for, else its defaults. */
export function answersFrom(typed: Partial<MenuAnswers>): MenuAnswers {
  const goal = goalOf(typed);
  const asked = Object.fromEntries(goal.asks.map((key) => [key, typed[key]]));
  return { ...DEFAULT_ANSWERS, ...goal.defaults, ...definedOnly(asked), goal: goal.id };
}

/** The flags of a command that does what was answered so far. */
export function argvFrom(typed: Partial<MenuAnswers>): string[] {
  const { argv, defaults } = goalOf(typed);
  const answers = answersFrom(typed);
  if (!argv) return argvOf(answers);

  const isOffered = isDeepStrictEqual(new Set(answers.clients), new Set(defaults?.clients));
  return isOffered ? [...argv] : [...argv, "--clients", clientsValue(answers)];
}
