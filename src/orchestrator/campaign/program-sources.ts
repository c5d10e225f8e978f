import { resolve } from "node:path";
import { appClientId } from "../../contract/app.js";
import { isProgramLayer } from "../../contract/layers.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { ProgramSource } from "../../runtimes/runtime-types.js";
import { candidatePrograms, type StartedProgram } from "../../targets/candidate-programs.js";
import { storeLayerPrograms } from "../../targets/load-programs/index.js";
import { modules } from "../../targets/modules/index.js";
import { findStore } from "../../targets/resolve.js";
import { services } from "../../targets/services/index.js";
import { stores } from "../../targets/stores/index.js";
import type { NamedPrograms, Request, RequestedApps, RequestedPlace } from "../request/request.js";
import { targetTexts } from "../request/target-texts.js";

/** The id of a program without the requested version. */
export const plainId = (id: string): string => id.replace(/~.*/, "");

export const isStore = (id: string): boolean => stores.some((store) => store.id === plainId(id));

const isModule = (id: string): boolean => modules.some((module) => module.id === id);

/** The programs of this machine that the user names, without the files of modules. */
export const namedPaths = (programs: NamedPrograms): [id: string, path: string][] =>
  Object.entries(programs.paths).filter(([id]) => !isModule(id));

/**
 * The programs of the stores and services that the requested targets can use, without a store that
 * the user runs.
 */
export function programSources(request: Request): ProgramSource[] {
  const used: readonly StartedProgram[] = [
    ...candidatePrograms(targetTexts(request.targets)),
    ...request.storeLayer.stores.map(findStore),
  ];
  const byId = new Map(used.map((program) => [program.id, program]));
  const sources = [
    ...[...byId.values()].flatMap((program) => sourceOf(program, request.place) ?? []),
    ...appSources(request.apps),
  ];
  if (!request.entries.layers.some(isProgramLayer)) return sources;

  const isLoadProgram = (id: string): boolean =>
    storeLayerPrograms.some((program) => program.id === id);
  return [
    ...sources.filter(({ id }) => !isLoadProgram(id)),
    ...storeLayerSources(request.place.programs),
  ];
}

/** The programs and images of the apps. A path is one from the folder that they are started in. */
function appSources(requested: RequestedApps | undefined): ProgramSource[] {
  if (!requested) return [];
  const started = requested.apps.filter(({ origin }) => origin === undefined);
  return started.map(({ name, image, words: [command = ""] }) => ({
    id: appClientId(name),
    kind: "server",
    command: image ?? command,
    isApp: true,
    ...definedOnly({
      image,
      path: !image && command.includes("/") ? resolve(requested.folder, command) : undefined,
    }),
  }));
}

/** The source of a program; undefined for a library, and for a store that the user runs. */
function sourceOf(program: StartedProgram, place: RequestedPlace): ProgramSource | undefined {
  const { programs, storeAccess } = place;
  const { id, program: command, version, withoutVersionFlag, mayHideVersion } = program;
  if (command === undefined || (storeAccess.STORE_URL && isStore(id))) return undefined;
  const hidesVersion = mayHideVersion || (isStore(id) && findStore(plainId(id)).isNamed);
  const isService = services.some((service) => service.id === id);
  return {
    id,
    command,
    ...definedOnly({
      path: programs.paths[id] || programs.paths[plainId(id)] || undefined,
      image: imageOf(program, programs) || undefined,
      version: version || undefined,
      withoutVersionFlag,
      mayHideVersion: hidesVersion ? (true as const) : undefined,
      kind: isService ? ("service" as const) : undefined,
    }),
  };
}

/** The sources of the load programs of the store layer, which come with the stores. */
function storeLayerSources(programs: NamedPrograms): ProgramSource[] {
  return storeLayerPrograms.map(({ id, program: command, imageOf: store }) => ({
    id,
    command,
    kind: "generator",
    ...definedOnly({
      path: programs.paths[id] || undefined,
      image: programs.images[id] || imageOf(findStore(store), programs) || undefined,
    }),
  }));
}

/** The image of a program, which the user names, a variable names, or the program has by default. */
function imageOf({ id, image, version }: StartedProgram, programs: NamedPrograms) {
  const namedImage = programs.images[id];
  if (namedImage) return namedImage;

  const imageOfAnyVersion =
    programs.images[plainId(id)] || process.env[image?.variable ?? ""] || image?.name;
  return version && imageOfAnyVersion ? withTag(imageOfAnyVersion, version) : imageOfAnyVersion;
}

const withTag = (name: string, tag: string): string =>
  `${name.replace(/@.*/, "").replace(/:[^:/]*$/, "")}:${tag}`;
