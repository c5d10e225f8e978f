import { isClientLayer } from "../../contract/layers.js";
import { invalid, notApplicable, type Rule } from "../evidence.js";

/** M11: the server did the requested work per request. A test shows that the work grows linearly. */
export const workloadAsAsked: Rule = {
  id: "M11",
  check({ configuration, consumers, request }) {
    if (!configuration || consumers.length === 0) return notApplicable("not a target of ours");
    if (isClientLayer(request.layer)) return notApplicable("no endpoint at the limiter layer");
    const { id, complexity } = configuration.workload;
    for (const consumer of consumers) {
      const offered = consumer.workloads.find((workload) => workload.id === id);
      if (!offered) return invalid(`${consumer.id} has no workload ${id}`);
      if (offered.complexity === complexity) continue;
      return invalid(
        `${id} ran with complexity ${offered.complexity ?? "unknown"}, ${complexity ?? "none"} was requested`,
      );
    }
    return undefined;
  },
};
