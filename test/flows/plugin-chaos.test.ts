// Calls over ten plugins of which three misbehave in every way: the process survives, no call is lost, nothing stays held, and
// the other plugins' answers are whole and about as fast as without them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ask, DIALECTS, joinText, parseEvents, send } from '../../testkit/client.ts';
import type { TestAccount } from '../../testkit/gateway.ts';
import { describeLong } from '../../testkit/long.ts';
import { type Books, type Home, makeHome, openBooks, type Service, startService } from '../../testkit/process.ts';
import { itTimed } from '../../testkit/timed.ts';

const HOOK = fileURLToPath(new URL('../../testkit/fail-on-signal.ts', import.meta.url));
const GOOD = Array.from({ length: 7 }, (_, index) => `good-${index}`);
const BAD = Array.from({ length: 3 }, (_, index) => `bad-${index}`);
const CALLS = 1000;
const CALLERS = 10;
const WORDS = 20;

/** The prompt says what it does; each plugin has its own folder and name. */
const writePlugin = (name: string) => `
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const never = () => new Promise(() => {});
const open = [{ type: 'start' }, { type: 'block-start', index: 0, block: { type: 'text' } }];
const delta = (text) => ({ type: 'block-delta', index: 0, text });
const close = [{ type: 'block-end', index: 0 }, { type: 'usage', input: 7, output: 20 }, { type: 'finish', reason: 'stop' }];
async function* answer() {
  yield open;
  for (let word = 0; word < ${WORDS}; word += 1) {
    await wait(2);
    yield [delta(word + ' ')];
  }
  yield close;
}
const ways = {
  throws() { throw new Error('chaos'); },
  throwsNothing() { throw undefined; },
  returnsNothing() {},
  returnsText() { return 'text'; },
  rejects: async function* () { throw new TypeError('chaos'); },
  rejectsLate: async function* () { yield open; yield [delta('a')]; throw 'chaos'; },
  floats: async function* () { Promise.reject(new Error('floats')); await never(); },
  timer: async function* () { setTimeout(() => { throw new Error('timer'); }, 5); yield open; yield [delta('a')]; await never(); },
  silent: async function* (signal) { await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))); },
  deaf: async function* () { yield open; await never(); },
  batchOfNothing: async function* () { yield undefined; yield null; yield [undefined]; },
  noBatch: async function* () { yield { type: 'start' }; },
  unknownPart: async function* () { yield open; yield [{ type: 'telepathy' }]; yield close; },
  wrongIndex: async function* () { yield open; yield [{ type: 'block-delta', index: 9, text: 'a' }]; yield close; },
  noStart: async function* () { yield [delta('a')]; yield close; },
  noEnd: async function* () { yield open; yield [delta('a')]; },
  twoEnds: async function* () { yield open; yield [delta('a')]; yield close; yield close; },
  afterEnd: async function* () { yield open; yield [delta('a')]; yield close; for (let i = 0; i < 1000; i += 1) yield [delta('more')]; },
  flood: async function* () { yield open; for (let i = 0; i < 2000; i += 1) yield [delta('flood ')]; yield close; },
  wide: async function* () { yield open; yield Array.from({ length: 2000 }, () => delta('wide ')); yield close; },
  badUsage: async function* () { yield open; yield [delta('a')]; yield [{ type: 'usage', input: -5, output: NaN }]; yield close; },
  hugeUsage: async function* () { yield open; yield [delta('a')]; yield [{ type: 'usage', input: 1e300, output: Infinity }, ...close.slice(1)]; },
  notText: async function* () { yield open; yield [{ type: 'block-delta', index: 0, text: 42 }]; yield close; },
  lone: async function* () { yield open; yield [delta('\\ud800')]; yield close; },
  blocks: async function* () { const end = Date.now() + 5; while (Date.now() < end); yield* answer(); },
  endless: async function* () { yield open; for (;;) { await wait(1); yield [{ type: 'alive' }]; } },
  cyclic: async function* () { const part = { type: 'finish', reason: 'stop' }; part.self = part; yield open; yield [delta('a'), { type: 'block-end', index: 0 }, part]; },
  frozen: async function* () { yield Object.freeze([Object.freeze({ type: 'start' })]); throw Object.freeze(new Error('frozen')); },
  getter: async function* () { yield [{ get type() { throw new Error('getter'); } }]; },
  signals: async function* (signal) { signal.addEventListener('abort', () => Promise.reject(new Error('signals'))); yield open; await never(); },
};
export default {
  contract: 2,
  name: '${name}',
  settings: (joi) => joi.object({}),
  create: () => ({
    text({ messages }, signal) {
      const way = ways[messages.at(-1).content[0].text];
      return way ? way(signal) : answer();
    },
  }),
};
`;

const WAYS = [...writePlugin('').matchAll(/^ {2}(\w+)(?:\(|: async function)/gm)]
  .map(([, way = '']) => way)
  .filter((way) => !['settings', 'create'].includes(way));

const text = (model: string) => ({
  id: model,
  type: 'text',
  provider: 'Test',
  price: { input: '1000', output: '5000' },
  routes: [{ upstream: model, model: 'm' }],
});

const catalog = {
  upstreams: Object.fromEntries([...GOOD, ...BAD].map((name) => [name, { plugin: name, sandbox: true }])),
  models: [...GOOD, ...BAD].map(text),
};

const percentile = (times: readonly number[], share: number) =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0;

// `plugin-errors.test.ts` has each kind of error alone.
describeLong('ten plugins of which three misbehave', () => {
  let home: Home;
  let books: Books;
  let account: TestAccount;
  let service: Service;

  before(async () => {
    home = makeHome(catalog);
    for (const name of [...GOOD, ...BAD]) {
      const folder = join(home.folder, 'providers', name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'index.js'), writePlugin(name));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    }
    books = await openBooks(home);
    account = await books.account('100000');
    const limits = {
      FIRST_TOKEN_TIMEOUT_MS: '700',
      IDLE_TIMEOUT_MS: '700',
      TOTAL_TIMEOUT_MS: '3000',
      DRAIN_MS: '5000',
    };
    service = await startService(home, {
      env: { SANDBOX: 'on', PROVIDERS_PATH: join(home.folder, 'providers'), LOG_LEVEL: 'fatal', ...limits },
      flags: ['--import', HOOK],
    });
  });
  after(async () => {
    await books.close();
    home.remove();
  });

  /** One call; resolves to its status, its text and how long it took. */
  async function call(index: number, model: string, prompt: string) {
    const stream = index % 2 === 0;
    const startedAt = performance.now();
    const body = ask(prompt, { model, stream });
    const path = DIALECTS[index % DIALECTS.length] ?? '';
    const reply = await send(service.url + path, { key: account.key, body });
    const answer = stream && reply.status === 200 ? joinText(parseEvents(reply.text)) : reply.text;
    return { status: reply.status, answer, ms: performance.now() - startedAt };
  }

  /** That many calls by several callers; resolves to all. */
  async function callAll(count: number, callers: number, one: (index: number) => ReturnType<typeof call>) {
    const done: Awaited<ReturnType<typeof call>>[] = [];
    let next = 0;
    const work = async () => {
      for (let index = next++; index < count; index = next++) done.push(await one(index));
    };
    await Promise.all(Array.from({ length: callers }, work));
    return done;
  }

  const callGood = (count: number) =>
    callAll(count, CALLERS, (index) => call(index, GOOD[index % GOOD.length] ?? '', 'good'));
  /** Another dialect and plugin each time that a way comes again. */
  const callBad = (index: number) => {
    const turn = index + Math.floor(index / WAYS.length);
    return call(turn, BAD[turn % BAD.length] ?? '', WAYS[index % WAYS.length] ?? '');
  };
  const whole = Array.from({ length: WORDS }, (_, word) => `${word} `).join('');

  itTimed('answers the calls of the others whole, about as fast, and loses none', async () => {
    const good = Math.round(CALLS * 0.7);
    await callGood(30);
    const calm = await callGood(Math.round(good / 2));
    const before = (await books.wallet(account)).charged;
    expect(WAYS).to.have.length(30);
    const [answers, failures] = await Promise.all([callGood(good), callAll(CALLS - good, 6, callBad)]);
    for (const { status, answer } of answers) {
      expect(status).to.equal(200);
      expect(answer).to.include(whole.trim());
    }
    expect(
      failures.map(({ status }) => status).filter((status) => ![200, 502, 503, 504].includes(status)),
    ).to.deep.equal([]);
    const times = [calm, answers].map((calls) =>
      percentile(
        calls.map(({ ms }) => ms),
        0.99,
      ),
    );
    expect(times[1], `calm ${times[0]} ms`).to.be.below(2 * (times[0] ?? 0));
    expect((await books.wallet(account)).charged > before).to.equal(true);
    expect((await send(`${service.url}/healthz`)).status).to.equal(200);
    const { code } = await service.stop();
    expect(code).to.equal(0);
    await books.checkMoney();
  }).timeout(180_000);
});
