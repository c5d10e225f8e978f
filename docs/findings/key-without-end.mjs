import { GlideClient, Logger } from "@valkey/valkey-glide";
import { Redis } from "iovalkey";
import { RateLimiterRedis, RateLimiterValkey, RateLimiterValkeyGlide } from "rate-limiter-flexible";

Logger.init("off");
const port = Number(process.env.PORT);
const glide = await GlideClient.createClient({ addresses: [{ host: "127.0.0.1", port }] });
const iovalkey = new Redis(port, "127.0.0.1");
const pairs = [
  [RateLimiterValkey, iovalkey],
  [RateLimiterValkeyGlide, glide],
  [RateLimiterRedis, iovalkey],
];
for (const [Limiter, storeClient] of pairs) {
  const limiter = new Limiter({ storeClient, points: 1, duration: 60, keyPrefix: Limiter.name });
  await limiter.consume("a");
  await iovalkey.persist(`${Limiter.name}:a`);
  const { msBeforeNext } = await limiter.consume("a").catch((refusal) => refusal);
  console.log(
    Limiter.name,
    msBeforeNext < 0 ? "denied without an end" : "denied until the window ends",
  );
}
iovalkey.disconnect();
glide.close();
