import { appName, KEY_PLACE } from "../../contract/app.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import type { Part, ReadyAnswer } from "../../runtimes/runtime-types.js";
import { findStore } from "../../targets/resolve.js";
import type { RunSettings, StartedApp } from "./run-settings.js";

/** The key of the requests that ask whether an app is ready, which no traffic has. */
export const READY_KEY = "ready";

/** Stands for the port in the arguments of an app that reads no variable. */
const PORT_PLACE = "{port}";

/** From this status on an answer says that an app cannot answer yet. */
const FIRST_SERVER_ERROR = 500;

const withKey = (text: string): string => text.replaceAll(KEY_PLACE, READY_KEY);

/** What asks an app whether it is ready: its ready path, or else the measured request. */
export function readyRequestOf({ request, readyPath }: StartedApp): {
  path: string;
  headers: Record<string, string>;
} {
  const { path, headers = {} } = request;
  const named = Object.entries(headers).map(([name, value]) => [name, withKey(value)]);
  return { path: readyPath ?? withKey(path), headers: Object.fromEntries(named) };
}

/** The address of a store in the form in which its clients take it. */
function storeAddress(storeId: string, { host, port }: NodePlace): string {
  const { engine } = findStore(storeId);
  return engine === "resp" ? `redis://${host}:${port}` : `${host}:${port}`;
}

/**
 * The server of an app, started from its command or image, which reads its port from PORT. It is
 * ready when it answers with anything but a failure of its own.
 * @param nodes the nodes of its store; empty where it has none
 */
export function appPart(
  id: string,
  { configuration: { target }, caps }: RunSettings,
  app: StartedApp,
  nodes: readonly NodePlace[],
): Part {
  const [store] = nodes;
  const variables: Record<string, string> =
    app.storeVariable && store ? { [app.storeVariable]: storeAddress(target.store, store) } : {};
  return {
    role: id,
    program: target.client,
    ...definedOnly({ caps: caps.server }),
    workingFolder: { path: app.folder },
    inheritsVariables: true,
    hasProcessTree: true,
    name: appName(target.client),
    followsImage: true,
    arguments: ({ port }) =>
      app.parameters.map((word) => word.replaceAll(PORT_PLACE, String(port))),
    environment: ({ port }) => ({ ...variables, PORT: String(port) }),
    ready: {
      ...readyRequestOf(app),
      accepts: ({ status }: ReadyAnswer) => status < FIRST_SERVER_ERROR,
    },
  };
}
