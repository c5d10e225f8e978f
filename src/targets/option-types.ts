import { functionOf, lineSchema, type Shaped } from "../contract/plugins.js";
import { idSchema } from "../contract/target.js";
import type { ClientDescription, VariedClient } from "./client-types.js";

export const optionShape = {
  /** The id of the option. A family of options has its common form, e.g. `pipeline-<n>us`. */
  id: idSchema,
  /** One line that says what it changes. */
  summary: lineSchema,
  /**
   * The client with this option in a topology, or the reason why the client does not support it
   * there. The id is that which the target's text names.
   */
  apply: functionOf<(client: ClientDescription, topology: string, id: string) => VariedClient>(),
};

/**
 * How an option separates rankings, and how the report names that. Plan and report read nothing
 * else about it.
 */
export interface Separation {
  /** The property in which the rows differ, e.g. `encryption`. Options of one family share it. */
  what: string;
  /**
   * `others`: all rows that have the option are ranked with each other. `itself`: each client is
   * ranked with itself, with the option and without it, and with no other client.
   */
  compares: "others" | "itself";
  /**
   * What the report says of a ranking that the option separates: `on express`, `with TLS and
   * without`.
   */
  words: string;
  /** What the report says in a list of what differs. It defaults to `words`. */
  value?: string;
  /** What it says there of rows without an option of the family. */
  default_words?: string;
}

/**
 * A variation of a client, which is `+id` in a target's text. Each has an entry in `options.ts`.
 */
export interface OptionDescription extends Shaped<typeof optionShape> {
  /** The ids of a family of options. */
  pattern?: RegExp;
  /** Present where rankings never mix rows with this option and rows without it. */
  separates?: Separation;
}
