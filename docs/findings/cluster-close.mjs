import { createCluster } from "redis";

const socket = { host: "127.0.0.1", port: Number(process.env.CLUSTER_PORT) };
const cluster = await createCluster({ rootNodes: [{ socket }] }).connect();
const nodes = cluster.masters.map(({ client }) => client);
for (const node of nodes) await node.sendCommand(["CLIENT", "PAUSE", "1000"]);
cluster.set("a", "1").catch(() => {});
await new Promise(setImmediate);
const closing = cluster.close();
cluster.destroy();
console.log("still connected:", nodes.filter((node) => node.isReady).length);
await closing;
