import type { Rule } from "../evidence.js";

/** M11: heavy means heavy: the server did as much work a request as was asked. That it grows linearly is tested. */
export const workloadAsAsked: Rule = {
  id: "M11",
  check({ configuration, server }) {
    if (!configuration || !server) return { severity: "not applicable", text: "not a target of ours" };
    const { id, complexity } = configuration.workload;
    const offered = server.workloads.find((workload) => workload.id === id);
    if (!offered) return { severity: "invalid", text: `the server has no workload ${id}` };
    if (offered.complexity === complexity) return undefined;
    return {
      severity: "invalid",
      text: `${id} ran with complexity ${offered.complexity ?? "unknown"}, ${complexity ?? "none"} was asked`,
    };
  },
};
