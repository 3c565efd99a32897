import { expect } from 'chai';
import type { TextCall } from '../../lib/upstream/contract/provider.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/openai-compatible/index.ts';
import { type Answer, HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://llm.example';
const KEY = 'sk-test-0123456789';

const chunk = (choice: object, more: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', model: 'up-1', choices: [choice], ...more })}\n\n`;
const ANSWER =
  chunk({ index: 0, delta: { content: 'Hi' } }) +
  chunk({ index: 0, delta: {}, finish_reason: 'stop' }, { usage: { prompt_tokens: 9, completion_tokens: 1 } }) +
  'data: [DONE]\n\n';

const CALL: TextCall = { ...HELLO, model: 'gpt-x' };

describe('openai-compatible', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1`, apiKey: KEY });

  /** Every call resolves with what was sent and what came of it. */
  function open(settings: object = {}) {
    const provider = vendor.open(settings);
    return (call: Partial<TextCall> = {}, { body = ANSWER, ...answer }: Answer & { body?: string } = {}) =>
      vendor.tell(provider, { ...CALL, ...call }, body, answer);
  }

  describe('request', () => {
    it('asks for a stream with usage, limited by max_tokens, and sends nothing else', async () => {
      const { sent } = await open()();
      expect(sent.path).to.equal('/v1/chat/completions');
      expect(sent.body).to.deep.equal({
        model: 'gpt-x',
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        max_tokens: 64,
        stream_options: { include_usage: true },
      });
      expect(sent.headers['content-type']).to.equal('application/json');
    });

    it('sends images, alone and beside text, in their order', async () => {
      // A view into a larger buffer: only its own bytes go.
      const bytes = Uint8Array.of(1, 0, 255, 128, 2).subarray(1, 4);
      const image = { type: 'image', mediaType: 'image/png', bytes } as const;
      const text = { type: 'text', text: 'What is it?' } as const;
      const { sent } = await open()({
        messages: [
          { role: 'user', content: [image] },
          { role: 'user', content: [text, image] },
        ],
      });
      const block = { type: 'image_url', image_url: { url: 'data:image/png;base64,AP+A' } };
      expect(sent.body.messages).to.deep.equal([
        { role: 'user', content: [block] },
        { role: 'user', content: [text, block] },
      ]);
    });

    it('puts the system prompt first and keeps several blocks apart', async () => {
      const content = [{ type: 'text', text: 'A' } as const, { type: 'text', text: 'B' } as const];
      const { sent } = await open()({
        system: [{ type: 'text', text: 'Be brief.' }],
        messages: [
          { role: 'user', content },
          { role: 'assistant', content: [{ type: 'text', text: 'C' }] },
        ],
      });
      expect(sent.body.messages).to.deep.equal([
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
        { role: 'assistant', content: 'C' },
      ]);
    });

    it('spells ids of calls as the upstream demands them, in results too', async () => {
      const image = { type: 'image', mediaType: 'image/png', bytes: Buffer.from('abc') } as const;
      const idsSent = async (settings: object, id: string) => {
        const { sent } = await open(settings)({
          messages: [
            { role: 'assistant', content: [{ type: 'tool-call', id, name: 'look', json: '{}' }] },
            { role: 'user', content: [{ type: 'tool-result', id, name: 'look', isError: false, content: [image] }] },
          ],
        });
        // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
        const [call, result, ...others] = sent.body.messages as any[];
        const images = others.at(-1);
        expect(others.slice(0, -1)).to.deep.equal('history' in settings ? [{ role: 'assistant', content: 'OK.' }] : []);
        const written = call.tool_calls[0].id;
        expect(result.tool_call_id).to.equal(written);
        expect(images.content[0].text).to.equal(`Of the result of ${written}:`);
        return written;
      };
      const nine = { history: 'mistral' };
      expect(await idsSent({}, 'functions.look:0')).to.equal('functions.look:0');
      expect(await idsSent(nine, 'D681PevKs')).to.equal('D681PevKs');
      for (const id of ['functions.look:0', 'toolu_01', 'call_1234', 'x']) {
        const written = await idsSent(nine, id);
        expect(written).to.match(/^[a-zA-Z0-9]{9}$/);
        expect(await idsSent(nine, id)).to.equal(written);
      }
      expect(await idsSent(nine, 'call_1')).not.to.equal(await idsSent(nine, 'call_2'));
    });

    it('sends system messages between others where its vendor takes them', async () => {
      const said = (role: 'user' | 'system', text: string) => ({ role, content: [{ type: 'text', text }] }) as const;
      const sentBy = async (systemMessages: string) => {
        const { sent } = await open({ systemMessages })({
          messages: [said('user', 'Hi'), said('system', 'Be brief.')],
        });
        return sent.body.messages;
      };
      const system = { role: 'system', content: 'Be brief.' };
      expect(await sentBy('prompt')).to.deep.equal([system, { role: 'user', content: 'Hi' }]);
      expect(await sentBy('in_place')).to.deep.equal([{ role: 'user', content: 'Hi' }, system]);
      const reminder = '<system-reminder>\nBe brief.\n</system-reminder>';
      expect(await sentBy('user')).to.deep.equal([
        { role: 'user', content: ['Hi', reminder].map((text) => ({ type: 'text', text })) },
      ]);
    });

    it('lets Mistral answer results before a user goes on', async () => {
      const result = { type: 'tool-result', id: 'D681PevKs', name: 'look', isError: false, content: [] } as const;
      const text = (words: string) => ({ type: 'text', text: words }) as const;
      const roles = async (...messages: TextCall['messages']) => {
        const call = { type: 'tool-call', id: 'D681PevKs', name: 'look', json: '{}' } as const;
        const { sent } = await open({ history: 'mistral' })({
          messages: [...CALL.messages, { role: 'assistant', content: [call] }, ...messages],
        });
        return (sent.body.messages as { role: string }[]).slice(2).map(({ role }) => role);
      };
      const user = (...content: TextCall['messages'][number]['content']) => ({ role: 'user', content }) as const;
      expect(await roles(user(result))).to.deep.equal(['tool']);
      expect(await roles(user(result, text('go on')))).to.deep.equal(['tool', 'assistant', 'user']);
      expect(await roles(user(result), user(text('a')), user(text('b')))).to.deep.equal([
        ...['tool', 'assistant', 'user'],
        'user',
      ]);
      const done = { role: 'assistant', content: [text('Done.')] } as const;
      expect(await roles(user(result), done, user(text('a')))).to.deep.equal(['tool', 'assistant', 'user']);
    });

    const bases: readonly (readonly [string, string])[] = [
      [ORIGIN, '/chat/completions'],
      [`${ORIGIN}/v1/`, '/v1/chat/completions'],
      [
        `${ORIGIN}/openai/deployments/d?api-version=2024-10-21`,
        '/openai/deployments/d/chat/completions?api-version=2024-10-21',
      ],
    ];
    for (const [baseUrl, path] of bases) {
      it(`asks ${path} at ${baseUrl}`, async () => {
        expect((await open({ baseUrl })()).sent.path).to.equal(path);
      });
    }

    const auths: readonly (readonly [string, string | undefined, string | undefined])[] = [
      ['bearer', 'authorization', `Bearer ${KEY}`],
      ['api-key', 'api-key', KEY],
      ['x-api-key', 'x-api-key', KEY],
      ['none', undefined, undefined],
    ];
    for (const [auth, header, value] of auths) {
      it(`sends the key in the style ${auth}`, async () => {
        const { sent } = await open({ auth })();
        if (header !== undefined) expect(sent.headers[header]).to.equal(value);
        const others = ['authorization', 'api-key', 'x-api-key'].filter((name) => name !== header);
        for (const name of others) expect(sent.headers).not.to.have.property(name);
      });
    }

    it('sends no key to a server that has none', async () => {
      const { sent } = await open({ apiKey: undefined })();
      expect(sent.headers).not.to.have.property('authorization');
    });

    it('lets several keys take turns, each upstream by itself', async () => {
      const ask = open({ apiKey: ['key-one', 'key-two'] });
      const other = open({ apiKey: ['key-one', 'key-two'] });
      const used = [];
      for (const call of [ask, ask, other, ask]) used.push((await call()).sent.headers.authorization);
      expect(used).to.deep.equal(['Bearer key-one', 'Bearer key-two', 'Bearer key-one', 'Bearer key-one']);
    });

    it('lets a route override the settings', async () => {
      const { sent } = await open({ usage: 'none' })({
        options: {
          maxTokensParam: 'max_completion_tokens',
          usage: 'usage_include',
          auth: 'api-key',
          baseUrl: `${ORIGIN}/v2`,
        },
      });
      expect(sent.path).to.equal('/v2/chat/completions');
      expect(sent.body).to.include({ max_completion_tokens: 64 });
      expect(sent.body).to.deep.include({ usage: { include: true } });
      expect(sent.body).not.to.have.any.keys('max_tokens', 'stream_options');
      expect(sent.headers['api-key']).to.equal(KEY);
    });

    it('keeps the setting and warns when an option has an unknown value', async () => {
      const { sent } = await open()({ options: { usage: 'often', baseUrl: 1, sizeMap: {} } });
      expect(sent.body).to.have.property('stream_options');
      expect(vendor.warnings).to.have.length(1);
      expect(vendor.warnings[0]).to.deep.include({ names: ['baseUrl', 'usage'], model: 'gpt-x' });
    });

    it('does not let an option lead the key to another origin', async () => {
      const { error, sent } = await open()({ options: { baseUrl: 'https://other.example/v1' } });
      expect(sent).to.equal(undefined);
      expect(error).to.include({ name: 'UpstreamFault', kind: 'protocol' });
    });
  });

  describe('answer', () => {
    it('is mapped from a stream', async () => {
      const { parts, error } = await open()();
      expect(error).to.equal(undefined);
      expect(parts).to.deep.equal([
        { type: 'start', id: 'c1', model: 'up-1' },
        { type: 'block-start', index: 0, block: { type: 'text' } },
        { type: 'block-delta', index: 0, text: 'Hi' },
        { type: 'usage', input: 9, output: 1 },
        { type: 'block-end', index: 0 },
        { type: 'finish', reason: 'stop', raw: 'stop' },
      ]);
    });

    it('is mapped from a whole reply', async () => {
      const body = JSON.stringify({
        id: 'c2',
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'length' }],
        usage: { prompt_tokens: 4, completion_tokens: 2 },
      });
      const { parts } = await open()({}, { body, type: 'application/json' });
      expect(parts.map(({ type }) => type)).to.deep.equal([
        'start',
        'block-start',
        'block-delta',
        'usage',
        'block-end',
        'finish',
      ]);
      expect(parts.at(-1)).to.deep.include({ reason: 'length' });
    });

    it('keeps the key out of the fault of an error status', async () => {
      const body = JSON.stringify({
        error: { message: `Incorrect API key provided: ${KEY}`, code: 'invalid_api_key' },
      });
      const { error } = await open()({}, { status: 401, body, type: 'application/json' });
      expect(error).to.include({ name: 'UpstreamFault', kind: 'auth', status: 401 });
      expect((error as Error).message)
        .to.include('Incorrect API key')
        .and.not.include(KEY);
    });

    it('shortens what an upstream says', async () => {
      const { error } = await open()({}, { status: 500, body: 'x'.repeat(50_000), type: 'text/plain' });
      expect(error).to.include({ kind: 'server' });
      expect((error as Error).message.length).to.be.below(600);
    });

    it('yields the text before an error that arrived with it', async () => {
      const { parts, error } = await open()(
        {},
        { body: `${chunk({ delta: { content: 'Hi' } })}data: {"error":{"message":"x","code":503}}\n\n` },
      );
      expect(parts.at(-1)).to.deep.equal({ type: 'block-delta', index: 0, text: 'Hi' });
      expect(error).to.include({ kind: 'overloaded', status: 503 });
    });
  });

  describe('settings', () => {
    const check = (settings: object) => checkSettings({ plugin, upstream: 'main', settings }).settings;

    it('have defaults', () => {
      expect(check({})).to.deep.equal({
        baseUrl: 'https://api.openai.com/v1',
        maxTokensParam: 'max_tokens',
        usage: 'stream_options',
        vectors: 'base64',
        inputsMax: 2048,
        auth: 'bearer',
        reasoning: 'reasoning_effort',
        toolReasoning: 'free',
        schemas: 'streamed',
        deltas: 'incremental',
        stop: 'send',
        history: 'any',
        cacheKey: 'omit',
        systemMessages: 'prompt',
        toolChoice: 'any',
        parallelCalls: 'send',
        cacheMarkers: 'omit',
        verbosity: 'omit',
      });
    });

    for (const wrong of [
      { usage: 'yes' },
      { auth: 'basic' },
      { maxTokensParam: 'n' },
      { deltas: 'x' },
      { apiKey: ' sk-1 ' },
    ]) {
      it(`refuse ${JSON.stringify(wrong)}`, () => {
        expect(() => check(wrong)).to.throw(Object.keys(wrong)[0] as string);
      });
    }
  });
});
