import type { Limits } from "../contract/configuration.js";
import type { ServiceSpec } from "../contract/run-spec.js";
import type { ServiceReading } from "../contract/service.js";
import type { StoreAccess } from "../contract/store-url.js";
import type { StorePlace } from "./open-client.js";

/** A program that decides, between server and store: one folder in `services/`. */
export interface ServiceDescription {
  id: string;
  program: string;
  /** The image with the program, and the environment variable that overrides it. */
  image: { name: string; variable: string };
  /** It does not know `--version`: its version is read from its file, or is that of its image. */
  withoutVersionFlag?: true;
  ports: readonly string[];
  /** Names of the settings that the user may not set: addresses, and what the harness relies on. */
  reserved: RegExp;
  /** Why it cannot keep these limits. It is absent for a service that can keep any. */
  unsupportedReason?(limits: Limits): string | undefined;
  /**
   * Files that it reads, by path below the folder `files` of its allocation.
   * @param nonce identifies the run
   * @param access to an external store
   */
  files(limits: Limits, nonce: string, access?: StoreAccess): Readonly<Record<string, string>>;
  arguments?(allocation: ServiceAllocation, place: StorePlace): readonly string[];
  /** All settings. Those without an address are part of the result. */
  environment(allocation: ServiceAllocation, place: StorePlace): Readonly<Record<string, string>>;
  /**
   * The setting that the service refused, from the lines that it printed before it ended.
   * It is undefined where they name none.
   */
  refusedSetting?(lines: readonly string[]): { name: string; takes: string } | undefined;
  /** Waits until it answers. @throws environmentError with the last problem */
  ready(place: ServiceSpec, deadlineMs: number): Promise<void>;
  read(place: ServiceSpec): Promise<ServiceReading>;
}

/** Where a service listens, and the folder of its configuration files. */
export interface ServiceAllocation {
  bind: string;
  port: number;
  ports: Readonly<Record<string, number>>;
  files: string;
}
