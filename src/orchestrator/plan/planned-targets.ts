import type { Plan } from "../../contract/plan.js";
import type { Discovery } from "../../contract/store.js";
import { idSchema, type Target } from "../../contract/target.js";
import { clients } from "../../targets/clients/index.js";
import { requireKnown } from "../../targets/did-you-mean.js";
import { type Availability, resolveTarget } from "../../targets/resolve.js";
import { groups } from "../../targets/target-groups.js";
import type { RequestedTargets } from "../request/request.js";
import { targetTexts } from "../request/target-texts.js";

interface PlannedTargets {
  targets: Target[];
  skips: Plan["skips"];
  notes: string[];
}

interface RequestedTarget {
  target: Target;
  texts: string[];
  /** Why another store replaces its default one. */
  note?: string | undefined;
}

/** The requested targets that can be measured here, each once, and why the others cannot. */
export function plannedTargets(
  requestedTargets: RequestedTargets,
  { available, external }: { available: Availability; external?: Discovery | undefined },
): PlannedTargets {
  requireKnownWords(requestedTargets);
  const requested = new Map<string, RequestedTarget>();
  const skips: Plan["skips"] = [];

  for (const text of new Set(targetTexts(requestedTargets))) {
    const resolution = resolveTarget(text, available);
    if ("skip" in resolution) {
      skips.push({ asked: text, reason: resolution.skip });
      continue;
    }

    const { target, note } = resolution;
    const { topology } = target;
    if (external && topology !== "none" && topology !== external.topology) {
      skips.push({ asked: text, reason: `the store that already runs is ${external.topology}` });
      continue;
    }

    const earlier = requested.get(target.text);
    requested.set(target.text, {
      target,
      texts: [...(earlier?.texts ?? []), text],
      note: earlier?.note ?? note,
    });
  }

  const measured = [...requested.values()];
  return {
    targets: measured.map(({ target }) => target),
    skips,
    notes: [...new Set(measured.flatMap(notesOn))],
  };
}

/** @throws usageError for a word that is neither a client nor a group, with the nearest known word */
function requireKnownWords(requestedTargets: RequestedTargets): void {
  const words = [...clients.map(({ id }) => id), ...Object.keys(groups)];
  for (const word of requestedTargets.clients) {
    if (idSchema.safeParse(word).success) requireKnown("client or group", word, words);
  }
}

/** Notes on another store than the default one, and on a target that was requested twice. */
function notesOn({ target: { label }, texts, note }: RequestedTarget): string[] {
  if (note) return [texts.length > 1 ? `${note}; that is ${label}, which is measured once` : note];
  return texts.slice(1).map((text) => `${text} is ${label}, which is measured once`);
}
