import { isClientLayer } from "../../contract/layers.js";
import type { Rule } from "../evidence.js";

/** M11: the server did the requested work per request. A test shows that the work grows linearly. */
export const workloadAsAsked: Rule = {
  id: "M11",
  check({ configuration, consumers, request }) {
    if (!configuration || consumers.length === 0)
      return { severity: "not applicable", text: "not a target of ours" };
    if (isClientLayer(request.layer))
      return { severity: "not applicable", text: "no endpoint at the limiter layer" };
    const { id, complexity } = configuration.workload;
    for (const consumer of consumers) {
      const offered = consumer.workloads.find((workload) => workload.id === id);
      if (!offered) return { severity: "invalid", text: `${consumer.id} has no workload ${id}` };
      if (offered.complexity === complexity) continue;
      return {
        severity: "invalid",
        text: `${id} ran with complexity ${offered.complexity ?? "unknown"}, ${complexity ?? "none"} was requested`,
      };
    }
    return undefined;
  },
};
