import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { ProviderPart, TextCall } from '../../lib/upstream/contract/provider.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';
import betas from '../../providers/anthropic/betas.json' with { type: 'json' };
import plugin from '../../providers/anthropic/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://messages.example';
const KEY = 'sk-test-0123456789';

const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = (text: string, index = 0) =>
  event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } } as { type: string });
const ANSWER =
  event({
    type: 'message_start',
    message: { id: 'msg_1', model: 'up-1', usage: { input_tokens: 9, output_tokens: 1 } },
  } as { type: string }) +
  delta('Hi') +
  event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } } as {
    type: string;
  }) +
  event({ type: 'message_stop' });

const CALL: TextCall = { ...HELLO, model: 'claude-x' };

describe('anthropic', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: KEY });

  function open(settings: object = {}) {
    const provider = vendor.open(settings);
    return (call: Partial<TextCall> = {}, status = 200, body = ANSWER) =>
      vendor.tell(provider, { ...CALL, ...call }, body, { status });
  }

  it('asks for a stream and sends nothing else', async () => {
    const { sent } = await open()();
    expect(sent.path).to.equal('/v1/messages');
    expect(sent.body).to.deep.equal({
      model: 'claude-x',
      max_tokens: 64,
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
    });
    expect(sent.headers).to.include({
      'x-api-key': KEY,
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
    });
    expect(sent.headers).not.to.have.property('authorization');
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
    const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AP+A' } };
    expect(sent.body.messages).to.deep.equal([
      { role: 'user', content: [block] },
      { role: 'user', content: [text, block] },
    ]);
  });

  it('keeps the system prompt apart from the messages, and several blocks too', async () => {
    const content = [{ type: 'text', text: 'A' } as const, { type: 'text', text: 'B' } as const];
    const { sent } = await open()({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [{ role: 'user', content }],
    });
    expect(sent.body).to.deep.include({
      system: 'Be brief.',
      messages: [{ role: 'user', content }],
    });
  });

  it('sends no beta that its settings leave out, and no field of one', async () => {
    const [edits, other] = [{ edits: [] }, { id: 'c' }];
    const known = { betas: ['context-management-2025-06-27', 'other-1'] };
    const messageFields = { context_management: edits, container: other };
    for (const [settings, betas, header, managed] of [
      [known, ['other-1', 'unknown-1', 'context-management-2025-06-27'], 'other-1,context-management-2025-06-27', true],
      [known, ['other-1'], 'other-1', false],
      [known, ['unknown-1'], undefined, false],
      [known, undefined, undefined, false],
      [{ betas: [] }, ['context-management-2025-06-27'], undefined, false],
    ] as const) {
      const { sent } = await open(settings)({ messageFields, ...(betas && { betas }) });
      expect(sent.headers['anthropic-beta'], String(betas)).to.equal(header);
      expect(sent.body.container).to.deep.equal(other);
      expect(sent.body.context_management).to.deep.equal(managed ? edits : undefined);
    }
  });

  it('lets several keys take turns', async () => {
    const ask = open({ apiKey: ['key-one', 'key-two'] });
    const used = [];
    for (let turn = 0; turn < 3; turn += 1) used.push((await ask()).sent.headers['x-api-key']);
    expect(used).to.deep.equal(['key-one', 'key-two', 'key-one']);
  });

  it('lets a route override address, version and style of the key', async () => {
    const options = { baseUrl: `${ORIGIN}/anthropic/`, version: '2024-01-01', auth: 'bearer' };
    const { sent } = await open()({ options });
    expect(sent.path).to.equal('/anthropic/v1/messages');
    expect(sent.headers).to.include({ authorization: `Bearer ${KEY}`, 'anthropic-version': '2024-01-01' });
    expect(sent.headers).not.to.have.property('x-api-key');
  });

  it('keeps the setting and warns when an option has an unknown value', async () => {
    const { sent } = await open()({ options: { auth: 'basic', version: 1 } });
    expect(sent.headers).to.include({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
    expect(vendor.warnings[0]).to.deep.include({ names: ['version', 'auth'] });
  });

  it('maps a stream', async () => {
    const { parts, error } = await open()();
    expect(error).to.equal(undefined);
    expect(parts).to.deep.equal([
      { type: 'usage', input: 9, output: 1 },
      { type: 'start', id: 'msg_1', model: 'up-1' },
      { type: 'block-start', index: 0, block: { type: 'text' } },
      { type: 'block-delta', index: 0, text: 'Hi' },
      { type: 'usage', output: 2 },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'stop', raw: 'end_turn' },
    ]);
  });

  it('takes the counts that a marketplace adds to the end, those of its cache too', async () => {
    const metrics = {
      inputTokenCount: 5,
      cacheWriteInputTokenCount: 30,
      cacheReadInputTokenCount: 200,
      outputTokenCount: 4,
    };
    const stop = { type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics };
    const { parts } = await open()({}, 200, delta('Hi') + event(stop));
    expect(parts).to.deep.include({ type: 'usage', input: 5, cacheRead: 200, cacheWrite: 30, output: 4 });
  });

  it('numbers the blocks of text anew', async () => {
    const body = delta('A', 1) + delta('B', 1) + delta('C', 4) + event({ type: 'message_stop' });
    const { parts } = await open()({}, 200, body);
    expect(parts.map((part) => ('index' in part ? `${part.type} ${part.index}` : part.type))).to.deep.equal([
      'start',
      'block-start 0',
      'block-delta 0',
      'block-delta 0',
      'block-end 0',
      'block-start 1',
      'block-delta 1',
      'block-end 1',
      'finish',
    ]);
  });

  const refusals: readonly (readonly [status: number, body: object, kind: string])[] = [
    [
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'Your credit balance is too low' } },
      'quota',
    ],
    [400, { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too large' } }, 'request'],
    [403, { error: { code: 'insufficient_user_quota', message: 'x', type: 'new_api_error' } }, 'quota'],
    [404, { detail: 'Not Found' }, 'missing'],
    [404, {}, 'missing'],
    [429, { error: { type: '1302', message: 'High concurrency usage of this API' } }, 'rate'],
    [500, { error: { type: 'api_error', message: 'billing database' } }, 'server'],
    [529, {}, 'overloaded'],
  ];
  for (const [status, body, kind] of refusals) {
    it(`${status} ${JSON.stringify(body)} is ${kind}`, async () => {
      const { error } = await open()({}, status, JSON.stringify(body));
      expect(error).to.include({ name: 'UpstreamFault', kind, status });
    });
  }

  const startOf = (index: number, text: string) =>
    event({ type: 'content_block_start', index, content_block: { type: 'text', text } } as { type: string });
  const stopOf = (index: number) => event({ type: 'content_block_stop', index } as { type: string });
  const textsOf = (parts: readonly ProviderPart[]) =>
    parts.flatMap((part) => (part.type === 'block-delta' ? [`${part.index}:${part.text}`] : []));

  it('makes blocks that come mixed into blocks one after the other', async () => {
    const mixed = startOf(0, '') + startOf(1, 'b') + delta('a') + stopOf(0) + delta('c', 1) + delta('d', 1) + stopOf(1);
    const { parts, error } = await open()({}, 200, mixed + ANSWER);
    expect(error).to.equal(undefined);
    expect(textsOf(parts)).to.deep.equal(['0:b', '1:a', '2:c', '2:d', '3:Hi']);
    const guard = new Guard({ outputMax: 100 });
    guard.push(parts);
    expect(guard.finished).to.equal(true);
  });

  it('goes on in a block whose first words came with its start', async () => {
    const { parts } = await open()({}, 200, startOf(0, 'a') + delta('b') + stopOf(0) + ANSWER);
    expect(textsOf(parts)).to.deep.equal(['0:a', '0:b', '1:Hi']);
  });

  it('takes text from deltas of text only, and from those without a type', async () => {
    const of = (index: number, fields: object) =>
      event({ type: 'content_block_delta', index, delta: fields } as unknown as { type: string });
    const others =
      of(0, { type: 'thinking_delta', thinking: 'hm', text: 'hidden' }) +
      of(0, { type: 'input_json_delta', partial_json: '{', text: 'hidden' }) +
      of(0, { text: 'plain ' });
    const { parts } = await open()({}, 200, others + ANSWER);
    expect(textsOf(parts)).to.deep.equal(['0:hm', '1:plain ', '1:Hi']);
  });

  it('fails at an error beside anything it knows, but not at none', async () => {
    const error = { type: 'overloaded_error', message: 'busy' };
    for (const type of ['message_start', 'content_block_delta', 'message_delta', 'message_stop', 'message']) {
      const told = await open()({}, 200, delta('a') + event({ type, error } as { type: string }) + ANSWER);
      expect(told.error, type).to.include({ name: 'UpstreamFault', kind: 'overloaded' });
      expect(textsOf(told.parts)).to.deep.equal(['0:a']);
    }
    const fine = await open()({}, 200, event({ type: 'ping', error: null } as { type: string }) + ANSWER);
    expect([fine.error, textsOf(fine.parts)]).to.deep.equal([undefined, ['0:Hi']]);
  });

  it('counts cached tokens once, at endpoints whose prompt includes them', async () => {
    const usage = { input_tokens: 3936, cache_read_input_tokens: 3712, output_tokens: 2 };
    const counted =
      delta('a') + event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage } as { type: string });
    const usageOf = async (settings: object) =>
      (await open(settings)({}, 200, counted + event({ type: 'message_stop' }))).parts.find(
        ({ type }) => type === 'usage',
      );
    expect(await usageOf({})).to.include({ input: 3936, cacheRead: 3712 });
    expect(await usageOf({ cachedInput: 'included' })).to.include({ input: 224, cacheRead: 3712 });
  });

  it('keeps the key out of a fault', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: `invalid ${KEY}` } });
    const { error } = await open()({}, 401, body);
    expect((error as Error).message)
      .to.include('invalid')
      .and.not.include(KEY);
  });

  it('has defaults for its settings', () => {
    expect(checkSettings({ plugin, upstream: 'main', settings: {} }).settings).to.deep.equal({
      baseUrl: 'https://api.anthropic.com',
      version: '2023-06-01',
      auth: 'x-api-key',
      thinking: 'adaptive',
      thinkingOff: 'disabled',
      betas,
      systemMessages: 'in_place',
      unsignedThinking: 'omit',
      cachedInput: 'beside',
    });
  });
});
