import { byDimension, DEFAULT_COUNT, type DimensionKey } from "../../contract/dimensions.js";
import { isProgramLayer, layerIds } from "../../contract/layers.js";
import { definedOnly } from "../../kit/defined-only.js";
import { usageError } from "../../kit/errors.js";
import { findOperation, operationIds } from "../../targets/load-programs/operations.js";
import { isInteractive } from "../ui/tty.js";
import { shownRequest } from "./app-flags.js";
import { CUSTOM_DURATION, REQUESTS_DURATION } from "./durations.js";
import { ALONE } from "./measure-settings.js";
import type {
  RequestedApps,
  RequestedEntries,
  RequestedRounds,
  RequestedStoreLayer,
} from "./request.js";
import { oneOf, type Settings } from "./setting-layers.js";
import { AUTO, countsIn, workloadsOf } from "./setting-values.js";
import { DEFAULT_PAYLOAD_BYTES, DEFAULT_STORES } from "./target-settings.js";

/**
 * The layers where the load enters, and the numbers of each dimension.
 * @throws usageError for a dimension that no requested layer has
 */
export function requestedEntries(
  settings: Settings,
  notices: string[],
): Pick<RequestedEntries, "layers" | "counts" | "findsGenerators"> {
  const { source: layerSource } = settings.get("layer");
  const layers = settings
    .list("layer")
    .map((value) => oneOf({ source: layerSource, value }, layerIds));

  const automatic = new Set<DimensionKey>();
  const counts = byDimension((dimension) => {
    const setting = settings.find(dimension.key);
    if (!setting) return [DEFAULT_COUNT];

    const { source, value } = setting;
    if (!dimension.layers.some((layer) => layers.includes(layer)))
      throw usageError(
        `${source} ${value.slice(0, 60)}: there is no ${dimension.one} of ours at the ${layers[0]} layer`,
      );

    const numbers = countsIn(dimension, source, value, notices);
    if (numbers !== AUTO) return numbers;
    automatic.add(dimension.key);
    return [DEFAULT_COUNT];
  });

  const findsGenerators = automatic.has("generators") ? (true as const) : undefined;
  return definedOnly({ layers, counts, findsGenerators });
}

/** What our servers do for a request, and what apps are asked in place of that. */
export const requestedWorkloads = (
  settings: Settings,
  apps: RequestedApps | undefined,
): Pick<RequestedEntries, "workloads" | "complexity" | "request"> =>
  definedOnly({
    workloads: workloadsOf(settings.list("workload")),
    complexity: settings.number("complexity"),
    request: apps && shownRequest(apps.request),
  });

const STORE_LAYER_KEYS = ["stores", "operations", "payload-bytes"] as const;

/** Settings that mean nothing where a load program of the store makes the load. */
const KEYS_WITHOUT_STORE_LAYER = ["store-url", "rate", "rate-sweep", "slo", "fault"] as const;

/**
 * The stores, operations and payloads of the store layer; empty where it is not requested.
 * @throws usageError for settings that the requested layers cannot use
 */
export function requestedStoreLayer(
  settings: Settings,
  layers: RequestedEntries["layers"],
): RequestedStoreLayer {
  if (!layers.some(isProgramLayer)) {
    const [useless] = STORE_LAYER_KEYS.flatMap((key) => settings.find(key) ?? []);
    if (useless) throw usageError(`${useless.source} is for the store layer: add --layer store`);
    return { stores: [], operations: [], payloadBytes: [] };
  }

  for (const key of KEYS_WITHOUT_STORE_LAYER) {
    const setting = settings.find(key);
    if (setting) throw usageError(`${setting.source}: the store layer cannot use it: leave it out`);
  }
  const runs = settings.get("runs");
  if (runs.value === AUTO)
    throw usageError(`${runs.source} ${AUTO}: give the number of runs at the store layer`);
  const duration = settings.get("duration-mode");
  if (duration.value.startsWith(REQUESTS_DURATION))
    throw usageError(
      `${duration.source} ${duration.value.slice(0, 60)}: the store layer measures for a time: give ${CUSTOM_DURATION}SECONDS`,
    );

  const listOr = (key: string, defaults: readonly string[]) =>
    settings.find(key) ? settings.list(key) : [...defaults];
  const operations = listOr("operations", operationIds);
  // Finding refuses an operation that does not exist.
  for (const id of operations) findOperation(id);

  const payloadBytes = settings.numbers("payload-bytes");
  return {
    stores: listOr("stores", DEFAULT_STORES),
    operations,
    payloadBytes: payloadBytes.length > 0 ? payloadBytes : [DEFAULT_PAYLOAD_BYTES],
  };
}

/**
 * The words of `--clients`; empty where no layer has targets.
 * @throws usageError where a layer needs targets and none are named, or no layer has any
 */
export function requestedClients(settings: Settings, layers: RequestedEntries["layers"]): string[] {
  const clients = settings.find("clients");
  if (layers.every(isProgramLayer)) {
    const flag = clients?.source === "--clients" ? clients : undefined;
    const useless = flag ?? settings.find("store-versions") ?? settings.find("node");
    if (useless)
      throw usageError(
        `${useless.source}: the store layer has none: name the servers with --stores`,
      );
    return [];
  }

  if (clients) return settings.list("clients");
  const menu = isInteractive() ? ", or run it without flags to get the menu" : "";
  throw usageError(
    `--clients is missing: give targets or groups, e.g. --clients all, or use --quick${menu}`,
  );
}

/** @throws usageError where nothing has instruments, or where every trial would get one run more */
export function requestedDiagnosis(
  settings: Settings,
  layers: RequestedEntries["layers"],
): RequestedRounds["diagnose"] {
  const setting = settings.find("diagnose");
  if (!setting || setting.value === "false") return undefined;

  const value = oneOf(setting, ["true", ALONE]);
  if (layers.every(isProgramLayer))
    throw usageError(`${setting.source}: the store layer has no instruments: leave it out`);
  if (settings.isOn("find-max-rate"))
    throw usageError(`${setting.source} and --find-max-rate: give one of them`);
  return value === ALONE ? "alone" : "after";
}
