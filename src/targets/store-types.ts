import { z } from "zod";
import type { Shaped } from "../contract/plugins.js";
import { evidenceNames } from "../contract/store.js";
import { idSchema } from "../contract/target.js";
import { commandNames, idList } from "./member-lists.js";

/** What the project's own stores and those of plugins have. */
export const storeShape = {
  id: idSchema,
  /**
   * The id of the engine that starts, reads and empties the store, e.g. `resp`. It is absent for a
   * store in the server's process.
   */
  engine: z.string().optional(),
  /** The name of the store's program. It is absent for a store in the server's process. */
  program: z
    .string()
    .regex(/^[\w.+-]{1,100}$/, "must be the name of an executable, without its folder")
    .optional(),
  /**
   * The image with the program, and the environment variable that overrides it. It is absent for a
   * store that does not run in containers.
   */
  image: z
    .strictObject({ name: z.string().min(1), variable: z.string().min(1).optional() })
    .optional(),
  /** Arguments of its program besides address, folder and topology, which the engine gives. */
  arguments: z.array(z.string()).readonly().optional(),
  /** The topologies in which the store can run. All are allowed by default. */
  topologies: idList.optional(),
  /** Engine `resp`: field of `INFO server` that holds the version. */
  versionField: z.string().regex(/^\w+$/, "must be the name of a field of INFO").optional(),
  /**
   * Engine `resp`: commands that carry the limiter's decisions, as `INFO commandstats` names them.
   */
  decisionCommands: commandNames.optional(),
  /**
   * A store whose clients can use this one, too, when a target names it: how a plugin's store gets
   * its clients.
   */
  compatibleWith: idSchema.optional(),
  /** Evidence that this store cannot give although its engine can read it. */
  withoutEvidence: z.array(z.enum(evidenceNames)).readonly().optional(),
};

/** A store. It has an entry in `stores/index.ts`, or in a plugin. */
export interface StoreDescription extends Shaped<typeof storeShape> {
  /** It does not know `--version`: its version is read from its file, or is that of its image. */
  withoutVersionFlag?: true;
  /**
   * Engine `resp`: its configuration file in the project's folder, whose settings become arguments.
   */
  conf?: string;
  /** The threads of a node that execute commands. It defaults to 1. */
  commandThreads?: number;
  /** Whether the store itself decides; reports then group it under services. */
  decides?: boolean;
  /**
   * Id of the limiter that every target on it has; its `applyTo` says which clients of other stores
   * can use it.
   */
  limiter?: string;
  /** Names of the further ports on which its program listens. */
  ports?: readonly string[];
  /**
   * The user named its program alone: it gets an address and a port, and may lack anything else.
   */
  isNamed?: true;
}

/** The address and folder of one store node. */
export interface NodeAllocation {
  bind: string;
  port: number;
  secondPort: number;
  folder: string;
  /** Ports by the names in `StoreDescription.ports`. */
  ports: Readonly<Record<string, number>>;
  /**
   * The paths of the node's certificate and key. Connections to it are not encrypted without them.
   */
  tls?: { cert: string; key: string };
}

/**
 * A library that a RESP store loads and that adds a limiter's command: one entry in
 * `modules/index.ts`.
 */
export interface ModuleDescription {
  id: string;
  /** Environment variable that names its file. */
  variable: string;
  /** The name in `MODULE LIST`, whatever its case. */
  name: string;
  /** The command that decides, as the store names it. */
  command: string;
  stores: readonly [string, ...string[]];
  /** How to get the module's file, for messages. */
  remedy: string;
}

/** Number of nodes, and how they are connected. */
export interface TopologyDescription {
  id: string;
  primaries: number;
  replicas: number;
  /** Arguments of the store program that the topology needs. */
  nodeArguments: readonly string[];
}
