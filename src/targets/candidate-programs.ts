import { nodeProgram, parseStoreText, parseTargetText, partText } from "../contract/target.js";
import { definedOnly } from "../kit/defined-only.js";
import { findClient, findStore } from "./find-description.js";
import { findLoadProgram } from "./load-programs/load-programs.js";
import { nodeVersionOf, options } from "./options.js";
import { findService } from "./services/index.js";
import type { ClientDescription, StoreDescription } from "./target-types.js";
import { onStore, withOptions } from "./varied-client.js";

/** A store, service or load program that a runtime starts. */
export type StartedProgram = Pick<StoreDescription, "id" | "program" | "image"> &
  Pick<Partial<StoreDescription>, "withoutVersionFlag"> & {
    mayHideVersion?: true;
    version?: string;
  };

/**
 * The stores, services and load programs that these targets can use.
 * @throws usageError
 */
export function candidatePrograms(texts: readonly string[]): StartedProgram[] {
  const services = texts.flatMap((text) => findClient(parseTargetText(text).client).service ?? []);
  const programs = texts.flatMap((text) => candidateClient(text)?.program ?? []);
  const nodes = texts.flatMap(
    (text) => nodeVersionOf(parseTargetText(text).options.map(({ id }) => id)) ?? [],
  );
  return [
    ...candidateStores(texts),
    ...unique(services).map(findService),
    ...unique(programs).map(startedLoadProgram),
    ...unique(nodes).map(startedNode),
  ];
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

const startedNode = (version: string): StartedProgram => ({
  id: nodeProgram(version),
  program: "node",
  version,
});

function startedLoadProgram(id: string): StartedProgram {
  const { program, imageOf, withoutVersionFlag } = findLoadProgram(id);
  return definedOnly({
    id,
    program,
    image: imageOf === undefined ? undefined : findStore(imageOf).image,
    withoutVersionFlag,
    mayHideVersion: withoutVersionFlag ? undefined : (true as const),
  });
}

/**
 * The client with the options that are known here. It is undefined where it does not
 * support one.
 */
function candidateClient(text: string): ClientDescription | undefined {
  const { client, store, topology: named, options: requested } = parseTargetText(text);
  const description = findClient(client);
  const topology = named ?? description.topologies[0];
  const base = onStore(description, store, topology);
  if ("skip" in base) return undefined;
  const ids = requested
    .map(({ id }) => id)
    .filter((id) => options.some((option) => option.id === id));
  const varied = withOptions(base, topology, ids);
  return "skip" in varied ? undefined : varied;
}

/** Ids of the modules that these targets use. @throws usageError */
export const requestedModules = (texts: readonly string[]): string[] =>
  unique(texts.flatMap((text) => candidateClient(text)?.module ?? []));

function candidateStores(texts: readonly string[]): StartedProgram[] {
  const ids = texts.flatMap((text) => {
    const { store, storeVersion } = parseTargetText(text);
    return store ? [partText(store, storeVersion)] : (candidateClient(text)?.stores ?? []);
  });
  return unique(ids)
    .map(startedStore)
    .filter(({ program }) => program !== undefined);
}

/** @param text `valkey`, or `valkey~8.1` for the program of one version */
function startedStore(text: string): StartedProgram {
  const { id, version } = parseStoreText(text);
  return { ...findStore(id), id: text, ...definedOnly({ version }) };
}
