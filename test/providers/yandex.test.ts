import { expect } from 'chai';
import type { TextCall } from '../../lib/upstream/contract/provider.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/yandex/index.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://lines.example';
const KEY = 'AQVN-test-0123456789';

const line = (text: string, status: string) =>
  `${JSON.stringify({ result: { alternatives: [{ message: { text }, status: `ALTERNATIVE_STATUS_${status}` }] } })}\n`;

const CALL: TextCall = { ...HELLO, model: 'yandexgpt/latest' };

describe('yandex', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}//`, apiKey: KEY, folder: 'b1g' });

  const ask = (call: Partial<TextCall> = {}, answer = line('Hi', 'FINAL')) =>
    vendor.tell(vendor.open(), { ...CALL, ...call }, answer, { type: 'application/json' });

  it('asks for a stream and sends nothing else', async () => {
    const { path, headers, body } = (await ask()).sent;
    expect(path).to.equal('/foundationModels/v1/completion');
    expect(headers.authorization).to.equal(`Api-Key ${KEY}`);
    expect(body).to.deep.equal({
      modelUri: 'gpt://b1g/yandexgpt/latest',
      completionOptions: { stream: true, maxTokens: '64' },
      messages: [{ role: 'user', text: 'Hello' }],
    });
  });

  it('sends a temperature of 1 at most, and no other sampling parameter', async () => {
    const { body } = (await ask({ sampling: { temperature: 1.5, topP: 0.5, seed: 7 } })).sent;
    expect(body.completionOptions).to.deep.equal({ stream: true, maxTokens: '64', temperature: 1 });
    const { completionOptions } = (await ask({ sampling: { topP: 0.5 } })).sent.body;
    expect(completionOptions).to.deep.equal({ stream: true, maxTokens: '64' });
  });

  it('names models within the folder, that of a route before the settings', async () => {
    const options = { folder: 'b2g' };
    expect((await ask({ options })).sent.body.modelUri).to.equal('gpt://b2g/yandexgpt/latest');
    expect((await ask({ model: 'ds://tuned' })).sent.body.modelUri).to.equal('ds://tuned');
  });

  it('leaves out images, which no model sees', async () => {
    const image = { type: 'image', mediaType: 'image/png', bytes: new Uint8Array(8) } as const;
    const { body } = (await ask({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, image] }] }))
      .sent;
    expect(body.messages).to.deep.equal([{ role: 'user', text: 'What?' }]);
  });

  it('sends results in the order of the calls, which nothing else tells', async () => {
    const call = (id: string, name: string) => ({ type: 'tool-call', id, name, json: '{"at":1}' }) as const;
    const result = (id: string, name: string, isError: boolean) =>
      ({ type: 'tool-result', id, name, isError, content: [{ type: 'text', text: id }] }) as const;
    const messages: TextCall['messages'] = [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'I look.' }, call('b', 'look'), call('a', 'see'), call('c', 'hear')],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'And?' },
          ...[result('c', 'hear', false), result('a', 'see', true), result('b', 'look', false)],
        ],
      },
    ];
    const called = (name: string) => ({ functionCall: { name, arguments: { at: 1 } } });
    const told = (name: string, content: string) => ({ functionResult: { name, content } });
    expect((await ask({ messages })).sent.body.messages).to.deep.equal([
      { role: 'assistant', text: 'I look.' },
      { role: 'assistant', toolCallList: { toolCalls: ['look', 'see', 'hear'].map(called) } },
      {
        role: 'user',
        toolResultList: { toolResults: [told('look', 'b'), told('see', 'Error: a'), told('hear', 'c')] },
      },
      { role: 'user', text: 'And?' },
    ]);
  });

  it('sends how tools may be called, how much to reason, and the format', async () => {
    const tools = { list: [{ name: 'look', schema: {} }] };
    for (const [choice, toolChoice] of [
      [undefined, undefined],
      ['auto', { mode: 'AUTO' }],
      ['none', { mode: 'NONE' }],
      ['any', { mode: 'REQUIRED' }],
      [{ name: 'look' }, { functionName: 'look' }],
    ] as const) {
      const { body } = (await ask({ tools: { ...tools, ...(choice && { choice }) } })).sent;
      expect([body.toolChoice, body.parallelToolCalls]).to.deep.equal([toolChoice, undefined]);
    }
    expect((await ask({ tools: { ...tools, single: true } })).sent.body.parallelToolCalls).to.equal(false);
    for (const [mode, sent] of [
      ['off', 'DISABLED'],
      ['auto', 'ENABLED_HIDDEN'],
    ] as const) {
      const { completionOptions } = (await ask({ reasoning: { mode } })).sent.body;
      expect(completionOptions).to.deep.include({ reasoningOptions: { mode: sent } });
    }
    expect((await ask({ format: { type: 'json' } })).sent.body.jsonObject).to.equal(true);
    const format = { type: 'json-schema', name: 'n', schema: { type: 'object' } } as const;
    expect((await ask({ format })).sent.body.jsonSchema).to.deep.equal({ schema: { type: 'object' } });
  });

  it('sends on what each line adds', async () => {
    const answer = line('Од', 'PARTIAL') + line('Один', 'PARTIAL') + line('Один.', 'FINAL');
    const { parts } = await ask({}, answer);
    const texts = parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
    expect(texts).to.deep.equal(['Од', 'ин', '.']);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: 'ALTERNATIVE_STATUS_FINAL' });
  });

  it('takes the words of a filter for an end, but no other words in place of those that were sent on', async () => {
    const filtered = await ask({}, line('Once', 'PARTIAL') + line('I cannot', 'CONTENT_FILTER'));
    expect(filtered.parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []))).to.deep.equal(['Once']);
    expect(filtered.parts.at(-1)).to.include({ type: 'finish', reason: 'filter' });
    const replaced = await ask({}, line('Once', 'PARTIAL') + line('Twice', 'FINAL'));
    expect(replaced.error).to.include({ name: 'UpstreamFault', kind: 'protocol' });
  });

  it('shows that calls are on their way, which the last line has as a whole', async () => {
    const calls = (status: string | undefined, json: object) => {
      const message = { toolCallList: { toolCalls: [{ functionCall: { name: 'f', arguments: json } }] } };
      return `${JSON.stringify({ result: { alternatives: [{ message, status }] } })}\n`;
    };
    const PARTIAL = calls('ALTERNATIVE_STATUS_PARTIAL', { a: 1 });
    const { parts } = await ask(
      {},
      `${calls(undefined, {})}${PARTIAL}${calls('ALTERNATIVE_STATUS_TOOL_CALLS', { a: 12 })}`,
    );
    const [alive, start, opened, ...rest] = parts;
    expect([alive, start?.type, opened?.type]).to.deep.equal([{ type: 'alive' }, 'start', 'block-start']);
    expect(rest).to.deep.equal([
      { type: 'block-delta', index: 0, text: '{"a":12}' },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'tool', raw: 'ALTERNATIVE_STATUS_TOOL_CALLS' },
    ]);
  });

  it('keeps what the last line does not repeat', async () => {
    for (const last of ['', 'So it is']) {
      const { parts, error } = await ask({}, line('So it is \n', 'PARTIAL') + line(last, 'FINAL'));
      const texts = parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
      expect([texts, error]).to.deep.equal([['So it is \n'], undefined]);
    }
  });

  for (const [status, reason] of [
    ['TRUNCATED_FINAL', 'length'],
    ['TOOL_CALLS', 'tool'],
  ] as const) {
    it(`ends for ${reason} with ${status}`, async () => {
      expect((await ask({}, line('Hi', status))).parts.at(-1)).to.include({ type: 'finish', reason });
    });
  }

  it('counts, names its version, and fails at an error behind words', async () => {
    const result = {
      alternatives: [{ message: { text: 'Hi' }, status: 'ALTERNATIVE_STATUS_PARTIAL' }],
      usage: { inputTextTokens: '7', completionTokens: '2', totalTokens: '9' },
      modelVersion: '06.2026',
    };
    const error = { grpcCode: 8, httpCode: 429, message: 'slow down', details: [] };
    const told = await ask({}, `${JSON.stringify({ result })}\n${JSON.stringify({ error })}\n`);
    expect(told.parts).to.deep.include.members([
      { type: 'start', model: '06.2026' },
      { type: 'usage', input: 7, output: 2 },
    ]);
    expect(told.error).to.include({ kind: 'rate' });
    const odd = { code: 8, message: 'rate limit exceeded', details: [] };
    expect((await ask({}, `${JSON.stringify({ result })}\n${JSON.stringify(odd)}\n`)).error).to.include({
      kind: 'rate',
    });
  });

  for (const name of ['apiKey', 'folder']) {
    it(`needs ${name}`, () => {
      const { [name]: _, ...settings } = { apiKey: KEY, folder: 'b1g' } as Record<string, string>;
      const check = () => checkSettings({ plugin, upstream: 'main', settings });
      expect(check).to.throw(`\`${name}\` is required`);
    });
  }
});
