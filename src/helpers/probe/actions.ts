import type { Workload } from "../../contract/configuration.js";
import type { ProbeAction, StoreFault } from "../../contract/probe-env.js";
import type { ServiceSpec, StoreSpec } from "../../contract/run-spec.js";
import type { ProbeReport } from "../../contract/store.js";
import type { StoreAccess } from "../../contract/store-url.js";
import type { NodePlace } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
import { findStore, findTopology } from "../../targets/resolve.js";
import { findService } from "../../targets/services/index.js";
import { findEngine } from "../../targets/stores/engines.js";
import type { StoreDescription, StoreSession } from "../../targets/target-types.js";

interface Circumstances
  extends Pick<Task, "service" | "decisionCommands" | "operation" | "keys" | "fault"> {
  topology: string;
  deadlineMs: number;
}

async function perform(
  action: ProbeAction,
  session: StoreSession,
  store: StoreDescription,
  { topology, deadlineMs, service, decisionCommands, operation, keys, fault }: Circumstances,
): Promise<ProbeReport> {
  const began = performance.now();
  const elapsed = () => (performance.now() - began) / 1000;
  switch (action) {
    case "discover":
      return { discovered: await session.discover() };
    case "form":
      await session.form(topology, deadlineMs);
      return { formed_in_s: elapsed() };
    case "ready":
      await session.ready(topology, deadlineMs);
      return { ready_in_s: elapsed() };
    case "reset":
      await session.reset(deadlineMs);
      return { flushed: true };
    case "read":
      return { readings: await session.read(store, decisionCommands) };
    case "stored-keys": {
      const stored = await session.storedKeys?.();
      return stored ? { stored } : {};
    }
    case "persist-keys": {
      const persisted = await session.persistKeys?.();
      return persisted === undefined ? {} : { persisted };
    }
    case "diagnose":
      return { diagnosed: (await session.diagnose?.(decisionCommands)) ?? [] };
    case "settings":
      return { settings: await session.settings() };
    case "modules":
      return { modules: { ...(await session.modules?.()) } };
    case "features":
      return { lacks: (await session.features?.()) ?? [] };
    case "prepare": {
      if (!operation || !session.prepare) throw usageError("the request names no operation");
      return { prepared: await session.prepare(operation) };
    }
    case "numbers": {
      const numbers = await session.numbers?.(keys ?? []);
      return numbers ? { numbers: numbers.map((number) => number ?? null) } : {};
    }
    case "fault":
      if (!fault || !session.inject)
        throw usageError("the request names no fault that this store can carry out");
      await session.inject(fault, deadlineMs);
      return { fault_s: elapsed() };
    case "ready-service":
      await findService(requireService(service).id).ready(requireService(service), deadlineMs);
      return { service_ready_in_s: elapsed() };
    case "read-service":
      return {
        service_reading: await findService(requireService(service).id).read(
          requireService(service),
        ),
      };
  }
}

function requireService(service: ServiceSpec | undefined): ServiceSpec {
  if (service) return service;
  throw usageError("the request names no service");
}

export interface Task {
  actions: readonly ProbeAction[];
  nodes: readonly NodePlace[];
  timeoutS: number;
  service?: ServiceSpec | undefined;
  decisionCommands?: readonly string[] | undefined;
  operation?: Workload | undefined;
  keys?: readonly string[] | undefined;
  fault?: StoreFault | undefined;
}

/**
 * Performs actions on new connections, because the probe has none between requests.
 * @throws usageError; environmentError
 */
export async function performAll(
  { id, topology, engine }: Pick<StoreSpec, "id" | "topology" | "engine">,
  { actions, nodes, timeoutS, ...details }: Task,
  access: StoreAccess,
): Promise<ProbeReport> {
  const store: StoreDescription =
    engine === undefined ? findStore(id) : { id, engine, isNamed: true };
  findTopology(topology);
  if (!store.engine)
    throw usageError(`${id} is not a store that can be read from outside the server`);

  const deadlineMs = performance.now() + timeoutS * 1000;
  const session = await findEngine(store.engine).connect(nodes, access, store);

  try {
    // Every node must answer; only the action `ready` asks for more.
    await session.ready("standalone", deadlineMs);
    const report: ProbeReport = {};
    for (const action of actions) {
      const circumstances = { topology, deadlineMs, ...details };
      Object.assign(report, await perform(action, session, store, circumstances));
    }
    return report;
  } finally {
    session.close();
  }
}
