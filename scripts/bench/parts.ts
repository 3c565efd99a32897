// `npm run bench -- --parts`: what single parts of a text call take on the main thread, each by itself, in this process.
// What they take in the store's transaction shows `--store sqlite|mongodb --parts`.
import { Buffer } from 'node:buffer';
import { cpus } from 'node:os';
import { createBodyParser } from '../../lib/api/body-parser.ts';
import { parseChatRequest } from '../../lib/api/dialects/chat/request.ts';
import { bookAttempt } from '../../lib/calls/booked-attempts.ts';
import { createRouteHealth } from '../../lib/calls/health.ts';
import { routeSmart, type SmartRequest } from '../../lib/calls/smart/route.ts';
import { nameConversation, orderRoutes } from '../../lib/calls/text/affinity.ts';
import { estimateInput } from '../../lib/calls/text/estimate.ts';
import type { Route, TextModel } from '../../lib/catalog/model.ts';
import { type PinnedCost, serializeCost } from '../../lib/money/cost.ts';
import { type TextPrice, textCost } from '../../lib/money/price.ts';
import { readOptions } from '../options.ts';
import { median } from './compare.ts';

readOptions({ parts: { type: 'boolean' } });

const ROUNDS = 15;
const ROUND_MS = 40;

const PRICE: TextPrice = {
  input: 40_000_000n,
  cacheRead: 4_000_000n,
  cacheWrite: 50_000_000n,
  cacheWrite1h: 80_000_000n,
  output: 240_000_000n,
  bands: [{ above: 200_000, input: 80_000_000n, output: 360_000_000n }],
};
const FLAT: TextPrice = { input: 40_000_000n, output: 240_000_000n };
const CACHED_TOKENS = { input: 1200, cacheRead: 9000, cacheWrite: 300, cacheWrite1h: 0, output: 700, reasoning: 200 };
const USAGE = { tokens_input: 1200, tokens_cache_read: 9000, tokens_cache_write: 300, tokens_output: 700 };
const COST: PinnedCost = {
  currency: 'USD',
  prices: PRICE,
  rate: { rub: 80_000_000n, from: '2026-11-01' },
  stored: serializeCost(PRICE),
};

const createRoute = (upstream: string): Route => ({
  upstream,
  key: `text ${upstream} model`,
  provider: {},
  origin: undefined,
  model: 'model',
  options: {},
  cost: COST,
  rank: 0,
  keys: 2,
});
const ROUTES = ['one', 'two', 'three'].map(createRoute);
const MODEL: TextModel = {
  id: 'model',
  aliases: [],
  type: 'text',
  provider: 'Bench',
  order: 'latency',
  delivery: 'stream',
  vision: false,
  tools: true,
  demands: true,
  json: true,
  schema: true,
  reasoning: false,
  price: PRICE,
  prices: '',
  routes: ROUTES,
};
const CALLER = { accountId: 'acc_0123456789abcdef01234567' };

const PROMPT = 'Explain in plain words what this function does, and name two cases that it gets wrong. '.repeat(23);
const BODY = {
  model: 'model',
  stream: true,
  max_tokens: 600,
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: PROMPT },
  ],
};
const REQUEST = parseChatRequest(BODY);
const ASKED: SmartRequest = { messages: [{ role: 'user', content: [{ type: 'text', text: PROMPT }] }] };
const health = createRouteHealth();

const ended = {
  model: MODEL.id,
  route: ROUTES[0] as Route,
  run: undefined,
  ending: { type: 'finish', result: undefined },
  used: { usage: USAGE, isReported: true, hasOutput: true },
  startedAt: performance.now(),
} as const;

/** What runs once a call, by its line in the table. */
const PARTS: Readonly<Record<string, () => unknown>> = {
  'check of the fields': () => parseChatRequest(BODY),
  'estimate of 2,000 characters': () => estimateInput(REQUEST),
  'price without caches': () => textCost(FLAT, { input: 1200, output: 700 }),
  'price with caches and bands': () => textCost(PRICE, CACHED_TOKENS),
  'row of an attempt, with its cost': () => bookAttempt(ended),
  'choice by conversation, 3 routes': () => orderRoutes(MODEL, nameConversation(MODEL, REQUEST, CALLER), health),
  'choice by speed, 3 routes': () => orderRoutes(MODEL, undefined, health),
  'tier of `smart`, 2,000 characters': () => routeSmart(ASKED),
};

/** In µs: the median of rounds, after one that does not count. */
async function time(part: () => unknown): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const from = performance.now();
    let runs = 0;
    while (performance.now() - from < ROUND_MS) {
      for (let left = 10; left > 0; left -= 1) await part();
      runs += 10;
    }
    rounds.push(((performance.now() - from) * 1000) / runs);
  }
  return median(rounds.slice(1));
}

console.log(`node ${process.version}, ${cpus()[0]?.model}; main thread, µs a call, medians of ${ROUNDS} rounds\n`);
for (const [name, part] of Object.entries(PARTS)) {
  console.log(`${name.padEnd(36)}${(await time(part)).toFixed(1).padStart(8)}`);
}

await timeBodies();

/** A long body starts a thread, unless one runs: each round has a parser of its own. */
async function timeBodies(): Promise<void> {
  const text = JSON.stringify({ model: 'model', messages: [{ role: 'user', content: 'word '.repeat(80_000) }] });
  const times: { first: number; next: number }[] = [];
  // A parser's thread does not keep a process running.
  const awake = setInterval(() => undefined, 1000);
  for (let round = 0; round <= ROUNDS; round += 1) {
    const parser = createBodyParser();
    const parse = async () => {
      const from = performance.now();
      await parser.parse(Buffer.from(text), { format: 'chat', signal: new AbortController().signal });
      return performance.now() - from;
    };
    const first = await parse();
    times.push({ first, next: await parse() });
    await parser.close();
  }
  clearInterval(awake);
  const show = (name: string, values: readonly number[]) =>
    console.log(`${name.padEnd(36)}${median(values).toFixed(1).padStart(8)}`);
  console.log('\nA body of 400 KB on its thread, ms\n');
  const counted = times.slice(1);
  show(
    'the first, for which it starts',
    counted.map(({ first }) => first),
  );
  show(
    'the next',
    counted.map(({ next }) => next),
  );
}
