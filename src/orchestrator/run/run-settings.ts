import type { AppRequest } from "../../contract/app.js";
import type { Configuration, KindCaps, Warmup } from "../../contract/configuration.js";
import type { ServerSpec } from "../../contract/run-spec.js";
import type { Discovery } from "../../contract/store.js";
import type { PartFaults } from "../../runtimes/runtime-types.js";
import type { StoreAuthority } from "./store/store-authority.js";

/** A store that the user already runs, with the variables that give programs access to it. */
export interface ExternalStore extends Discovery {
  access: Readonly<Record<string, string>>;
}

/** The settings in which an audit lets one of its servers differ from the others. */
export type ServerDifference = Pick<ServerSpec, "clock_shift_ms" | "by_address">;

/** How a run starts the server of an app, and what it asks of it. */
export interface StartedApp {
  /** The address of one that already runs, so that no run starts it. */
  origin?: string;
  /** The program's arguments, or what replaces the command of an image. */
  parameters: readonly string[];
  /** The folder that it is started in. */
  folder: string;
  /** The request with all values of its headers. */
  request: AppRequest;
  /** The path that answers as soon as the app is ready; the request itself where it is absent. */
  readyPath?: string;
  /** The variable that gets the address of the store. */
  storeVariable?: string;
}

export interface RunSettings {
  configuration: Configuration;
  /** A random text by which programs of another run are not mistaken for those of this one. */
  runNonce: string;
  /** The seed of the traffic. All configurations of a round have the same, and the same requests. */
  seed: number;
  warmupS: Warmup;
  workers: number;
  /** The requested caps, of which the runtime applies those that it can. */
  caps: KindCaps;
  /** The store that the user already runs. */
  external?: ExternalStore;
  /** The authority of the stores; absent where no target encrypts its connections. */
  authority?: StoreAuthority;
  /** How each server differs, in their order. */
  servers?: readonly ServerDifference[];
  /** Whether servers and store have instruments that cost CPU time. */
  diagnose?: true;
  partFaults?: PartFaults;
  /** The app that is the target; absent for a target that our own server measures. */
  app?: StartedApp;
  /** The files of modules by id; absent where no target needs one. */
  modules?: Readonly<Record<string, string>>;
}

/** The settings of a run that has not been made yet, and draws its nonce only then. */
export type RequestedRun = Omit<RunSettings, "runNonce">;
