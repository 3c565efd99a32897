// Calls of tools on their way: each dialect over each kind of upstream, without loss, however they are cut.
import { expect } from 'chai';
import fc from 'fast-check';
import { CHAT, MESSAGES, parseEvents, RESPONSES, send } from '../../testkit/client.ts';
import { ANY_CHARACTER } from '../../testkit/code-points.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { LISTENERS } from './tool-listeners.ts';
import { type Call, CLIENTS, SPEAKERS, type Spoken, type Talk, type Turn, UPSTREAMS } from './tool-wire.ts';
import { readResponses, speakResponses } from './tool-wire-responses.ts';

const PATHS = { message: MESSAGES, chat: CHAT, responses: RESPONSES } as const;
const REASONS = {
  message: ['end_turn', 'tool_use'],
  chat: ['stop', 'tool_calls'],
  responses: ['completed', 'completed'],
} as const;
const PLUGINS = {
  chat: 'openai-compatible',
  message: 'anthropic',
  google: 'gemini',
  responses: 'openai-responses',
} as const;

type Kind = keyof typeof PLUGINS;

const READERS = { ...UPSTREAMS, responses: readResponses };
const WRITERS = { ...SPEAKERS, responses: speakResponses };

const TURNS_MAX = 3;
const TOGETHER_MAX = 3;
const CALLS_MAX = TURNS_MAX * TOGETHER_MAX;

/** Texts of white space alone are left out. */
const words = fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== '');
const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,19}$/);
/** A piece that begins like the first one, with a brace, is taken for the whole so far. */
const isKey = (text: string) => text !== '__proto__' && !text.startsWith('{');
const key = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 6 }).filter(isKey);
/** Bodies are parsed without this name. */
const value = fc.jsonValue({ maxDepth: 2 }).filter((json) => !JSON.stringify(json).includes('"__proto__"'));
/** As JSON has it: no negative zero. */
const json = fc.dictionary(key, value, { maxKeys: 3 }).map((object) => JSON.stringify(object));

const result = fc.record({
  text: fc.oneof(words, fc.constant('')).filter((text) => !text.startsWith('Error: ')),
  isError: fc.boolean(),
  images: fc.constantFrom(0, 0, 0, 1),
});

const turn = fc
  .record({
    text: fc.oneof(words, fc.constant('')),
    pairs: fc.array(fc.tuple(name, json, result), { minLength: 1, maxLength: TOGETHER_MAX }),
  })
  .map(({ text, pairs }) => ({ text, pairs }));

const talk: fc.Arbitrary<Talk> = fc
  .record({
    prompt: words,
    turns: fc.array(turn, { maxLength: TURNS_MAX }),
    names: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
    schema: fc
      .dictionary(key, value, { maxKeys: 2 })
      .map((properties) => ({ ...properties, type: 'object', properties: {} })),
    choice: fc.constantFrom('auto', 'none', 'any', 'first'),
    single: fc.boolean(),
    // They differ in characters that not every upstream takes.
    ids: fc.uniqueArray(fc.stringMatching(/^[ab][._:é-]{1,2}[ab]$/), { minLength: CALLS_MAX, maxLength: CALLS_MAX }),
  })
  .map(({ prompt, turns, names, schema, choice, single, ids }) => {
    let count = 0;
    return {
      prompt,
      turns: turns.map(({ text, pairs }) => ({
        text,
        calls: pairs.map(([called, args]) => {
          count += 1;
          return { id: ids[count - 1] ?? '', name: called, json: args };
        }),
        results: pairs.map(([, , said]) => said),
      })),
      tools: names.map((each) => ({
        name: each,
        description: `does ${each}`,
        schema: JSON.parse(JSON.stringify(schema)),
      })),
      choice: choice === 'first' ? `${names[0]}` : choice,
      single: single && choice !== 'none',
    };
  });

/** A text in pieces. */
const pieces = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat(60), { maxLength: 4 })).map(([whole, cuts]) => {
    const places = [0, ...cuts.map((at) => Math.min(at, whole.length)).sort((a, b) => a - b), whole.length];
    return places
      .slice(1)
      .map((end, at) => whole.slice(places[at], end))
      .filter((piece) => piece !== '');
  });

const spoken: fc.Arbitrary<Spoken> = fc
  .record({
    text: fc.array(words, { maxLength: 3 }),
    calls: fc.array(fc.tuple(name, fc.oneof(pieces(json), fc.constant([]))), { maxLength: 3 }),
  })
  .filter(({ text, calls }) => text.length + calls.length > 0)
  .map(({ text, calls }) => ({
    text,
    calls: calls.map(([called, cut], at) => ({ id: `call_${at}`, name: called, pieces: cut })),
  }));

const parsed = (text: string): unknown => JSON.parse(text);
const argued = ({ name: called, json: args }: Call) => ({ name: called, json: parsed(args) });
const listIds = (turns: readonly Turn[]) => turns.flatMap(({ calls }) => calls.map(({ id }) => id));

/** They pass as they are but to messages, which take few characters: there they are as many. */
function checkIds(kind: Kind, ids: readonly string[], asked: readonly string[]): void {
  if (kind !== 'message') expect(ids).to.deep.equal(asked);
  for (const id of kind === 'message' ? ids : []) expect(id).to.match(/^[a-zA-Z0-9_-]+$/);
  expect(new Set(ids)).to.have.property('size', asked.length);
}

for (const kind of Object.keys(PLUGINS) as Kind[]) {
  describe(`tools over ${PLUGINS[kind]}`, () => {
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      upstream = await startUpstream();
      const settings = { baseUrl: kind === 'message' ? upstream.url : `${upstream.url}/v1`, apiKey: 'up-secret-key-1' };
      const model = {
        id: 'm',
        type: 'text',
        provider: 'Test',
        tools: true,
        vision: true,
        routes: [{ upstream: 'up', model: 'gemini-3-x' }],
        price: { input: '10', output: '10' },
      };
      const catalog = { upstreams: { up: { plugin: PLUGINS[kind], settings } }, models: [model], vision: ['m'] };
      gateway = await startGateway({ catalog });
      account = await gateway.account('100000');
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await upstream.close();
    });

    const speak = (answer: Spoken) => {
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.end(WRITERS[kind](answer));
      });
    };
    const ask = (dialect: keyof typeof PATHS, fields: object) =>
      send(`${gateway.url}${PATHS[dialect]}`, { key: account.key, body: { model: 'm', max_tokens: 1000, ...fields } });

    it('sends broken and empty arguments as objects', async () => {
      speak({ text: ['ok'], calls: [] });
      for (const args of ['', ' ', '{}', BROKEN, '[1]', 'null', '"x"']) {
        const turns = [{ text: '', calls: [{ id: 'c', name: 'look', json: args }], results: [RESULT] }];
        const asked = { prompt: 'x', turns, tools: [DEFINITION], choice: 'auto', single: false };
        const { status, text } = await ask('chat', CLIENTS.chat(asked));
        expect(status, text).to.equal(200);
        const [call] = READERS[kind](upstream.calls.at(-1)?.body).turns[0]?.calls ?? [];
        const isEmpty = ['', '{}'].includes(args.trim());
        expect(call?.json, args).to.equal(isEmpty ? '{}' : JSON.stringify({ INVALID_JSON: args }));
      }
    });

    for (const dialect of ['message', 'chat', 'responses'] as const) {
      it(`sends any ${dialect}-style history whole`, async () => {
        speak({ text: ['ok'], calls: [] });
        await fc.assert(
          fc.asyncProperty(talk, async (asked) => {
            const { status, text } = await ask(dialect, CLIENTS[dialect](asked));
            expect(status, text).to.equal(200);
            const understood = READERS[kind](upstream.calls.at(-1)?.body);
            const expected = {
              ...asked,
              single: asked.single && kind !== 'google',
              turns: asked.turns.map(({ text: said, calls, results }) => ({
                text: said,
                calls: calls.map(argued),
                // The other format has no word for it.
                results: results.map((each) => ({
                  ...each,
                  text: each.text === '' && each.images > 0 && kind === 'chat' ? 'The image follows.' : each.text,
                  isError: each.isError && dialect === 'message',
                })),
              })),
            };
            const turns = understood.turns.map(({ calls, ...rest }) => ({
              ...rest,
              calls: calls.map(argued),
            }));
            checkIds(kind, listIds(understood.turns), listIds(asked.turns));
            expect({ ...understood, turns }).to.deep.equal(expected);
          }),
          { numRuns: longer(4, 30) },
        );
      });

      if (kind !== 'google') {
        it(`returns broken arguments as they are, ${dialect}-style`, async () => {
          speak({ text: [], calls: [{ id: 'c', name: 'look', pieces: ['{"at":', '"sk'] }] });
          const tools = CLIENTS[dialect]({
            prompt: 'x',
            turns: [],
            tools: [DEFINITION],
            choice: 'auto',
            single: false,
          });
          const streamed = await ask(dialect, { ...tools, stream: true });
          expect(LISTENERS[dialect].stream(parseEvents(streamed.text)).calls[0]?.json).to.equal(BROKEN);
          const { json: whole } = await ask(dialect, tools);
          const [call] = LISTENERS[dialect].reply(whole).calls;
          expect(call?.json).to.equal(dialect === 'message' ? JSON.stringify({ INVALID_JSON: BROKEN }) : BROKEN);
        });
      }

      for (const stream of [false, true]) {
        it(`returns any answer ${stream ? 'as a' : 'without a'} ${dialect}-style stream`, async () => {
          const tools = CLIENTS[dialect]({
            prompt: 'x',
            turns: [],
            tools: [DEFINITION],
            choice: 'auto',
            single: false,
          });
          await fc.assert(
            fc.asyncProperty(spoken, async (answer) => {
              speak(answer);
              const reply = await ask(dialect, { ...tools, stream });
              expect(reply.status, reply.text).to.equal(200);
              const listener = LISTENERS[dialect];
              const heard = stream ? listener.stream(parseEvents(reply.text)) : listener.reply(reply.json);
              expect(heard.text).to.equal(answer.text.join(''));
              expect(heard.reason).to.equal(REASONS[dialect][answer.calls.length > 0 ? 1 : 0]);
              const calls = heard.calls.map((call) => ({ ...call, json: parsed(call.json) }));
              expect(calls).to.deep.equal(
                answer.calls.map(({ id, name: called, pieces: cut }) => ({
                  id,
                  name: called,
                  json: parsed(cut.join('') || '{}'),
                })),
              );
            }),
            { numRuns: longer(4, 30) },
          );
        });

        it(`returns one call if the client allows no more, ${stream ? 'as a' : 'without a'} ${dialect}-style stream`, async () => {
          const alone = { prompt: 'x', turns: [], tools: [DEFINITION], choice: 'auto', single: true };
          await fc.assert(
            fc.asyncProperty(spoken, async (answer) => {
              speak(answer);
              const reply = await ask(dialect, { ...CLIENTS[dialect](alone), stream });
              expect(reply.status, reply.text).to.equal(200);
              const listener = LISTENERS[dialect];
              const heard = stream ? listener.stream(parseEvents(reply.text)) : listener.reply(reply.json);
              expect(heard.text).to.equal(answer.text.join(''));
              expect(heard.reason).to.equal(REASONS[dialect][answer.calls.length > 0 ? 1 : 0]);
              expect(heard.calls.map(({ id }) => id)).to.deep.equal(answer.calls.slice(0, 1).map(({ id }) => id));
            }),
            { numRuns: longer(3, 20) },
          );
        });
      }
    }
  });
}

const BROKEN = '{"at":"sk';
const RESULT = { text: 'blue', isError: false, images: 0 };
const DEFINITION = { name: 'look', description: 'looks', schema: { type: 'object' } };
