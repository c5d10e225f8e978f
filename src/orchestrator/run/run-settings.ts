import type { Configuration, KindCaps, Warmup } from "../../contract/configuration.js";
import type { ServerSpec } from "../../contract/run-spec.js";
import type { Discovery } from "../../contract/store.js";
import type { PartFaults } from "../../runtimes/runtime-types.js";
import type { StoreAuthority } from "./store-authority.js";

/** A store that the user already runs, with the variables that give programs access to it. */
export interface ExternalStore extends Discovery {
  access: Readonly<Record<string, string>>;
}

/** What an audit gives one of its servers. */
export type ServerDifference = Pick<ServerSpec, "clock_shift_ms" | "by_address">;

export interface RunSettings {
  configuration: Configuration;
  /** Random: programs of another run are not mistaken for those of this one. */
  runNonce: string;
  /**
   * The traffic's seed; the same for all configurations of a round, so that they get the same
   * requests.
   */
  seed: number;
  warmupS: Warmup;
  workers: number;
  /** The requested caps; the runtime applies what it can. */
  caps: KindCaps;
  /** The store that the user already runs. */
  external?: ExternalStore;
  /** Vouches for the stores; absent where no target encrypts its connections. */
  authority?: StoreAuthority;
  /** How each server differs, in their order. */
  servers?: readonly ServerDifference[];
  /** Servers and store are read with instruments that cost CPU time. */
  diagnose?: true;
  partFaults?: PartFaults;
  /** Files of modules by id; absent where no target needs one. */
  modules?: Readonly<Record<string, string>>;
}

/** The settings of a run that has not been made yet: each run draws its own nonce. */
export type RequestedRun = Omit<RunSettings, "runNonce">;
