// Whatever ends an answer, in every wire format and every dialect: what was produced is charged, and nothing else.
import { expect } from 'chai';
import { ask, CHAT, DIALECTS, MESSAGES, open, RESPONSES, readHead, send, until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { FORMATS, type FormatWriter, INPUT } from './answer-formats.ts';

const MAX_TOKENS = 1000;
const RUB = 1_000_000;
/** An output token costs 1 RUB, so that the minimum and the input do not show. */
const PRICE = { input: '1', output: '1000000' };

const HANG = Symbol('the upstream says nothing more');
const RESET = Symbol('the connection breaks');

type Dialect = (typeof DIALECTS)[number];

type Step = string | typeof HANG | typeof RESET;

interface Way {
  readonly name: string;
  readonly steps: (format: FormatWriter) => readonly Step[];
  /** Tokens that the upstream has produced. */
  readonly produced: number;
  /** What the client asks for besides, in its dialect. */
  readonly wish?: Readonly<Record<Dialect, object>>;
  /** The client leaves once it has seen a word, or once it is known that the upstream has said everything. */
  readonly leaves?: true;
  /** A call without streaming of which nothing is delivered is refunded. */
  readonly refundedWhole?: true;
  /** Formats that count only at their end. */
  readonly without?: readonly string[];
}

const SCHEMA = { type: 'object', properties: {} };
const TOOLS: Way['wish'] = {
  [MESSAGES]: { tools: [{ name: 'say', input_schema: SCHEMA }] },
  [CHAT]: { tools: [{ type: 'function', function: { name: 'say', parameters: SCHEMA } }] },
  [RESPONSES]: { tools: [{ type: 'function', name: 'say', parameters: SCHEMA }] },
};
const STOP: Way['wish'] = {
  [MESSAGES]: { stop_sequences: ['word word'] },
  [CHAT]: { stop: ['word word'] },
  [RESPONSES]: { stop: ['word word'] },
};

const WAYS: readonly Way[] = [
  { name: 'ends by itself', steps: (f) => [f.begin(), f.text(200), f.end('stop', 200)], produced: 200 },
  { name: 'reaches its limit', steps: (f) => [f.begin(), f.text(200), f.end('length', 200)], produced: 200 },
  { name: 'is filtered', steps: (f) => [f.begin(), f.text(200), f.end('filter', 200)], produced: 200 },
  {
    name: 'ends with a call',
    steps: (f) => [f.begin(), f.text(10), f.call(190), f.end('tool', 210)],
    produced: 210,
    wish: TOOLS,
  },
  {
    name: 'thinks before it speaks',
    steps: (f) => [f.begin(), f.reasoning(300), f.text(20), f.end('stop', 320)],
    produced: 320,
  },
  {
    name: 'reaches its limit while it thinks',
    steps: (f) => [f.begin(), f.reasoning(900), f.end('length', 1000)],
    produced: 1000,
  },
  {
    name: 'meets a stop string and goes on to its counts',
    steps: (f) => [f.begin(), f.reasoning(300), f.text(100), f.text(100), f.end('stop', 500)],
    produced: 500,
    wish: STOP,
  },
  {
    name: 'meets a stop string in its first words',
    steps: (f) => [f.begin(), f.text(2), f.text(398), f.end('stop', 400)],
    produced: 400,
    wish: STOP,
  },
  {
    name: 'meets a stop string and never counts',
    steps: (f) => [f.begin(), f.reasoning(300), f.text(100), f.end('stop')],
    produced: 400,
    wish: STOP,
  },
  {
    name: 'meets a stop string and breaks off',
    steps: (f) => [f.begin(), f.reasoning(300), f.text(100), RESET],
    produced: 400,
    wish: STOP,
  },
  { name: 'reports more than its limit', steps: (f) => [f.begin(), f.text(50), f.end('stop', 1600)], produced: 1000 },
  { name: 'reports absurdly much', steps: (f) => [f.begin(), f.text(50), f.end('stop', 10 ** 12)], produced: 1000 },
  {
    name: 'runs over its limit by its own count',
    steps: (f) => [f.begin(), f.text(900), f.counts(1100), f.text(100), HANG],
    produced: 1000,
    without: ['responses'],
  },
  {
    name: 'runs over its limit without counting',
    steps: (f) => [f.begin(), ...Array.from({ length: 40 }, () => f.text(100)), HANG],
    produced: 1000,
  },
  { name: 'reports no counts', steps: (f) => [f.begin(), f.text(200), f.end('stop')], produced: 200 },
  { name: 'reports zero', steps: (f) => [f.begin(), f.text(200), f.end('stop', 0)], produced: 200 },
  { name: 'reports a negative number', steps: (f) => [f.begin(), f.text(200), f.end('stop', -5)], produced: 200 },
  { name: 'reports a text', steps: (f) => [f.begin(), f.text(200), f.end('stop', 'many')], produced: 200 },
  {
    name: 'breaks off',
    steps: (f) => [f.begin(), f.reasoning(100), f.text(200), RESET],
    produced: 300,
    refundedWhole: true,
  },
  { name: 'ends without a reason', steps: (f) => [f.begin(), f.text(200)], produced: 200, refundedWhole: true },
  { name: 'says an error', steps: (f) => [f.begin(), f.text(200), f.error()], produced: 200, refundedWhole: true },
  { name: 'falls silent', steps: (f) => [f.begin(), f.text(200), HANG], produced: 200, refundedWhole: true },
  {
    name: 'is left by its client',
    steps: (f) => [f.begin(), f.reasoning(100), f.text(200), HANG],
    produced: 300,
    leaves: true,
  },
  {
    name: 'is left by its client while it thinks',
    steps: (f) => [f.begin(), f.reasoning(300), HANG],
    produced: 300,
    leaves: true,
  },
  {
    name: 'is left by its client after it has counted',
    steps: (f) => [f.begin(), f.text(200), f.counts(600), HANG],
    produced: 600,
    leaves: true,
    without: ['responses'],
  },
];

describe('what an answer is billed that', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      catalog: {
        upstreams: Object.fromEntries(
          Object.entries(FORMATS).map(([name, create]) => {
            const { plugin, base } = create();
            return [name, { plugin, settings: { baseUrl: upstream.url + base, apiKey: 'secret' } }];
          }),
        ),
        models: Object.keys(FORMATS).map((name) => ({
          id: name,
          type: 'text',
          provider: 'Test',
          tools: true,
          routes: [{ upstream: name, model: 'm' }],
          price: PRICE,
        })),
      },
      env: { IDLE_TIMEOUT_MS: '1000' },
    });
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  /** Resolves once the last step is written. */
  function play(steps: readonly Step[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    upstream.behave(async ({ response }) => {
      response.writeHead(200, SSE);
      for (const step of steps) {
        await new Promise((next) => setTimeout(next, 2));
        if (step === HANG) return resolve();
        if (step === RESET) {
          response.destroy();
          return resolve();
        }
        if (typeof step === 'string') response.write(step);
      }
      response.end();
      resolve();
    });
    return promise;
  }

  interface Call {
    readonly dialect: Dialect;
    readonly format: string;
    readonly stream: boolean;
  }

  async function chargeOf(way: Way, { dialect, format, stream }: Call): Promise<number> {
    const account = await gateway.account('100000');
    const played = play(way.steps((FORMATS[format] as () => FormatWriter)()));
    const body = ask('hi', { model: format, stream, max_tokens: MAX_TOKENS, ...way.wish?.[dialect] });
    const options = { key: account.key, body };
    if (way.leaves) {
      const sent = open(gateway.url + dialect, options);
      sent.on('error', () => undefined);
      if (stream)
        readHead(sent).then(
          (reply) => reply.resume().on('error', () => undefined),
          () => undefined,
        );
      await played;
      await new Promise((next) => setTimeout(next, 30));
      sent.destroy();
    } else await Promise.all([send(gateway.url + dialect, options), played]);
    await until(async () => (await gateway.wallet(account)).held === 0n);
    return Number((await gateway.wallet(account)).charged) / RUB;
  }

  // A sample of the product: every way and every format meets every dialect, streamed and whole.
  for (const [wayAt, way] of WAYS.entries()) {
    for (const [formatAt, format] of Object.keys(FORMATS).entries()) {
      if (way.without?.includes(format)) continue;
      for (const stream of [true, false]) {
        const dialect = DIALECTS[(wayAt + formatAt + Number(stream)) % DIALECTS.length] as Dialect;
        it(`${way.name}: ${format} for ${dialect}${stream ? ', streamed' : ''}`, async () => {
          const charged = await chargeOf(way, { dialect, format, stream });
          if (way.refundedWhole && !stream) expect(charged).to.equal(0);
          else expect(charged / way.produced).to.be.within(0.97, 1.03);
        });
      }
    }
  }

  it('costs its input as well', async () => {
    const account = await gateway.account('100000');
    const format = (FORMATS.chat as () => FormatWriter)();
    void play([format.begin(), format.text(2), format.end('stop', 2)]);
    const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi', { model: 'chat' }) });
    expect(reply.json.usage.prompt_tokens).to.equal(INPUT);
    expect(reply.json.billing.charged_rub).to.equal(2 + INPUT / 1_000_000);
  });
});
