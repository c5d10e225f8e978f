import { GlideClient, Logger } from "@valkey/valkey-glide";
import { RateLimiterValkeyGlide } from "rate-limiter-flexible";

Logger.init("off");
const storeClient = await GlideClient.createClient({
  addresses: [{ host: "127.0.0.1", port: Number(process.env.PORT) }],
});
const limiter = new RateLimiterValkeyGlide({ storeClient, points: 5, duration: 60 });
await limiter.consume("a");
await storeClient.functionFlush();
for (let n = 0; n < 2; n++) await limiter.consume("a").catch((error) => console.log(error.message));
storeClient.close();
