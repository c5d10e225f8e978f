import { usageError } from "../../contract/errors.js";
import { findService } from "../../targets/services/index.js";
import type { ServiceEnv } from "./request.js";
import type { SettingValue } from "./setting-layers.js";

/** A comma only separates in front of another setting, so that a value may hold one. */
const NEXT = /,(?=[a-z0-9][a-z0-9.-]*:[A-Z][A-Z0-9_]*=)/;
const SETTING = /^(?<id>[a-z0-9][a-z0-9.-]{0,39}):(?<name>[A-Z][A-Z0-9_]{0,63})=(?<value>.*)$/;

/** Reads `service:NAME=value`, several separated by commas. @throws usageError */
export function serviceEnvOf({ source, value: text }: SettingValue): ServiceEnv {
  const all: ServiceEnv = {};
  for (const given of text.split(NEXT)) {
    const { id = "", name = "", value = "" } = SETTING.exec(given.trim())?.groups ?? {};
    if (!name)
      throw usageError(
        `${source} ${JSON.stringify(given.slice(0, 60))}: give SERVICE:NAME=value, e.g. envoy-ratelimit:REDIS_POOL_SIZE=20`,
      );
    if (findService(id).reserved.test(name))
      throw usageError(
        `${source} ${id}:${name}: the harness sets ${name} itself; addresses, ports and counters cannot be changed`,
      );
    const own = all[id] ?? {};
    const other = own[name];
    if (other !== undefined && other !== value)
      throw usageError(`${source}: ${name}=${other} and ${name}=${value}: give one of them`);
    all[id] = { ...own, [name]: value };
  }
  return all;
}
