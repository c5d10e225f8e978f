import { z } from "zod";
import { idSchema } from "../contract/target.js";

/** Ids of which the first is the default. */
export const idList = z.tuple([idSchema], idSchema, "must be a list of ids").readonly();

/** Names of commands. */
export const commandNames = z.array(z.string().min(1)).readonly();
