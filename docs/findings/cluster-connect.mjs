import { createCluster } from "redis";

const socket = { host: "127.0.0.1", port: Number(process.env.CLUSTER_PORT) };
const nowhere = { host: "127.0.0.1", port: 1 };
const nodeAddressMap = (address) => (address === `127.0.0.1:${socket.port}` ? nowhere : undefined);
const cluster = createCluster({ rootNodes: [{ socket }], nodeAddressMap });
cluster.on("error", () => {}).on("node-error", () => {});
const outcome = cluster.connect().then(
  () => "connected",
  () => "rejected",
);
console.log(
  await Promise.race([outcome, new Promise((resolve) => setTimeout(resolve, 1500, "neither"))]),
);
process.exit();
