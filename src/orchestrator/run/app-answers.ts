import { appName, KEY_PLACE } from "../../contract/app.js";
import { askDirectly } from "../../kit/direct-http.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import type { RunningPart } from "../../runtimes/runtime-types.js";
import { READY_KEY, readyRequestOf } from "./app-role.js";
import type { RunningRole } from "./part-supervisor.js";
import type { RunSettings, StartedApp } from "./run-settings.js";

const ASK_WITHIN_MS = 10_000;

const isServed = (status: number): boolean => (status >= 200 && status < 300) || status === 429;

function remedyFor(status: number): string {
  if (status === 401 || status === 403) return "give credentials with --header";
  if (status >= 300 && status < 400) return "redirects are not followed: give the --path behind it";
  return status < 500 ? "give another --path" : "see what it prints";
}

/**
 * Asks each server of an app once for what is measured, because figures of nothing but failures
 * would mean nothing.
 * @throws environmentError that names the app and its answer
 */
export async function requireServed(
  servers: readonly RunningRole[],
  app: StartedApp,
  { configuration: { target } }: RunSettings,
): Promise<void> {
  const { headers } = readyRequestOf(app);
  const path = app.request.path.replaceAll(KEY_PLACE, READY_KEY);
  const name = appName(target.client);
  const ask = (origin: string) =>
    askDirectly(`${origin}${path}`, { timeout_ms: ASK_WITHIN_MS, headers });
  const askPart = async ({ address, get }: RunningPart) =>
    (await get?.(path, headers)) ?? ask(`http://${address.host}:${address.port}`);

  const { origin } = app;
  const questions = origin
    ? [() => ask(origin)]
    : servers.map(
        ({ part }) =>
          () =>
            askPart(part),
      );
  for (const answered of questions) {
    const { status } = await answered().catch((error) => {
      throw environmentError(`${name} does not answer GET ${path}: ${messageOf(error)}`);
    });
    if (!isServed(status))
      throw environmentError(`${name} answers GET ${path} with ${status}: ${remedyFor(status)}`);
  }
}
