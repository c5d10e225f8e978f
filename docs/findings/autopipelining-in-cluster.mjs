import { Cluster as Ioredis } from "ioredis";
import { Cluster as Iovalkey } from "iovalkey";

const nodes = [{ host: "127.0.0.1", port: Number(process.env.CLUSTER_PORT) }];
for (const [name, Cluster] of [
  ["ioredis", Ioredis],
  ["iovalkey", Iovalkey],
]) {
  const cluster = new Cluster(nodes, { enableAutoPipelining: true });
  await new Promise((resolve) => cluster.once("ready", resolve));
  const calls = Array.from({ length: 30 }, (_, n) => cluster.eval("return 1", 1, `key-${n}`));
  const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === "rejected");
  console.log(name, failed.length ? failed[0].reason.message : "all answered");
  cluster.disconnect();
}
