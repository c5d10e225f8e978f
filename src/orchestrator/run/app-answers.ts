import { appName, KEY_PLACE } from "../../contract/app.js";
import { askDirectly } from "../../kit/direct-http.js";
import { environmentError, messageOf } from "../../kit/errors.js";
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
  const started = servers.map(({ part: { address } }) => `http://${address.host}:${address.port}`);
  for (const origin of app.origin ? [app.origin] : started) {
    const url = `${origin}${path}`;
    const { status } = await askDirectly(url, { timeout_ms: ASK_WITHIN_MS, headers }).catch(
      (error) => {
        throw environmentError(`${name} does not answer GET ${path}: ${messageOf(error)}`);
      },
    );
    if (!isServed(status))
      throw environmentError(`${name} answers GET ${path} with ${status}: ${remedyFor(status)}`);
  }
}
