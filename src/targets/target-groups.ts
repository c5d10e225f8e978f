import { clients } from "./clients/index.js";

/** Names that stand for several targets in `--clients`. */
const standalone = ["valkey-glide", "iovalkey", "ioredis"];
const cluster = standalone.map((client) => `${client}:cluster`);

export const groups: Readonly<Record<string, readonly string[]>> = {
  all: [...standalone, ...cluster],
  standalone,
  cluster,
  controls: clients.filter(({ control }) => control).map(({ id }) => id),
};
