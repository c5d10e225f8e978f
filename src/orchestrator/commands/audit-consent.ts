import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { createInterface } from "node:readline/promises";
import { environmentError, messageOf, usageError } from "../../kit/errors.js";
import type { ApiCheck } from "../audit/api/api-check.js";
import { apiPlanLines, planOf } from "../audit/api/api-plan.js";
import type { ApiSettings } from "../audit/api/api-settings.js";

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

const ownAddresses = (): Set<string> =>
  new Set(
    Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.map(({ address }) => address),
    ),
  );

/** Whether all addresses of a host are this machine's. @throws environmentError for an unknown name */
async function isOwnHost({ hostname }: URL): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, "");
  try {
    const addressesHere = ownAddresses();
    const addresses = await lookup(host, { all: true });
    return addresses.every(({ address }) => LOOPBACK.test(address) || addressesHere.has(address));
  } catch (cause) {
    throw environmentError(`${host}: its name has no address (${messageOf(cause)})`, { cause });
  }
}

/**
 * Sees to it that somebody wants an audit of addresses that are not this machine's: whoever is at a
 * terminal is shown the plan and asked.
 * @throws usageError where nobody consents
 */
export async function requireConsent(
  settings: ApiSettings,
  checks: readonly ApiCheck[],
  isConsented: boolean,
): Promise<void> {
  const hosts = [settings.url, ...settings.instances];
  const areOwn = await Promise.all(hosts.map(isOwnHost));
  const foreign = hosts.filter((_, index) => !areOwn[index]).map(({ host }) => host);
  if (foreign.length === 0 || isConsented) return;

  const names = [...new Set(foreign)].join(", ");
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageError(`${names} is not this machine: add --yes if its owner wants the audit`);
  const lines = apiPlanLines(settings, planOf(settings, checks));
  process.stderr.write(`${lines.join("\n")}\n`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(
    `${names} is not this machine. Does its owner want the audit? [y/N] `,
  );
  terminal.close();
  if (!/^y(?:es)?$/i.test(answer.trim())) throw usageError("nothing was sent");
}
