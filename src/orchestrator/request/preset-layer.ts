import { usageError } from "../../kit/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { PRESETS, type Preset } from "./presets.js";
import type { SettingLayer } from "./setting-layers.js";

/** The preset of the last layer that names one. @throws usageError where it does not exist */
export function presetOf(layers: readonly SettingLayer[]): Preset | undefined {
  const flags = layers.at(-1);
  const quick = flags?.get("quick") && "quick";
  const named = layers.flatMap((layer) => layer.get("preset") ?? []).at(-1);
  if (quick && named?.source === "--preset" && named.value !== quick)
    throw usageError(`--quick and --preset ${named.value}: give one of them`);

  const id = quick ?? named?.value;
  if (id === undefined) return undefined;

  const preset = PRESETS.find((candidate) => candidate.id === id);
  if (preset) return preset;

  const ids = PRESETS.map((candidate) => candidate.id);
  const shown = JSON.stringify(id.slice(0, 60));
  throw usageError(`${named?.source}: there is no preset ${shown}${didYouMean(id, ids)}`);
}

/** The settings of a preset, whose sources name it in messages. */
export function presetLayer({ id, settings }: Preset): SettingLayer {
  const entries = Object.entries(settings).map(
    ([key, value]) => [key, { source: `preset ${id}: ${key}`, value }] as const,
  );
  return new Map(entries);
}
