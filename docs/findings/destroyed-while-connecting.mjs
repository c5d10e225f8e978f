import { createClient } from "redis";

const client = createClient({ socket: { host: "127.0.0.1", port: Number(process.env.PORT) } });
const connecting = client.connect();
await new Promise(setImmediate);
client.destroy();
await connecting;
console.log("open:", client.isOpen, "ready:", client.isReady);
client.destroy();
