// The plugin of Bedrock: its signature, and what no recording shows of its requests.
import { expect } from 'chai';
import { encodeAwsEvents } from '../../lib/upstream/check/aws-events.ts';
import type { Host, TextCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/bedrock/index.ts';
import { buildConverseBody } from '../../providers/bedrock/request.ts';
import { signRequest } from '../../providers/bedrock/sign.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://bedrock-runtime.eu-central-1.amazonaws.com';
const KEY = 'AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const host = { argumentsOf: JSON.parse } as unknown as Host;
const HI: TextCall['messages'][number] = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };

describe('bedrock', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN, apiKey: KEY, region: 'eu-central-1' });

  it('signs as the SDK of the vendor does', () => {
    const url = new URL(`${ORIGIN}/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream`);
    const body = '{"messages":[{"role":"user","content":[{"text":"Привет"}]}]}';
    const now = Date.UTC(2026, 10, 27, 1, 2, 3);
    // Printed by SignatureV4 of @smithy/signature-v4 for the same request.
    expect(signRequest({ key: KEY, region: 'eu-central-1', url, body, now })).to.deep.equal({
      'x-amz-date': '20261127T010203Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261127/eu-central-1/bedrock/aws4_request, ' +
        'SignedHeaders=content-type;host;x-amz-date, ' +
        'Signature=4a8bd76155da6cb8b2ff09d697e7c8f698eda61091288b7a382ecfab9a465450',
    });
  });

  it('sends a route with a region of its own there, signed for it', async () => {
    const options = { region: 'us-west-2', baseUrl: `${ORIGIN}/` };
    const { sent } = await vendor.tell(vendor.open(), { ...HELLO, model: 'eu.m', options }, '{}', {
      status: 429,
    });
    expect(sent.path).to.equal('/model/eu.m/converse-stream');
    expect(sent.headers.authorization).to.match(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-west-2\/bedrock\//,
    );
    expect(sent.headers['x-amz-date']).to.match(/^\d{8}T\d{6}Z$/);
  });

  it('gets a temperature, or a top_p', () => {
    const call: TextCall = { model: 'm', options: {}, maxTokens: 9, messages: [] };
    const drawn = (sampling: TextCall['sampling']) => buildConverseBody({ ...call, sampling }, host);
    expect(drawn({ temperature: 1.5, topP: 0.5, seed: 7 })).to.deep.include({
      inferenceConfig: { maxTokens: 9, temperature: 1 },
    });
    expect(drawn({ topP: 0.5 })).to.deep.include({ inferenceConfig: { maxTokens: 9, topP: 0.5 } });
    expect(drawn({ topK: 5 })).to.deep.include({ inferenceConfig: { maxTokens: 9 } });
  });

  it('gives its own reasoning back, and none of others', () => {
    const reasoning = (format: string, more: object = {}) => ({
      type: 'reasoning' as const,
      text: 'Hm.',
      state: { format, value: 'sig' },
      ...more,
    });
    const call: TextCall = {
      model: 'm',
      options: {},
      maxTokens: 9,
      stops: ['a', 'b', 'c', 'd', 'e'],
      messages: [
        HI,
        {
          role: 'assistant',
          content: [reasoning('converse'), reasoning('messages'), reasoning('converse', { text: '', redacted: true })],
        },
      ],
    };
    expect(buildConverseBody(call, host)).to.deep.equal({
      messages: [
        { role: 'user', content: [{ text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
            { reasoningContent: { redactedContent: 'sig' } },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 9, stopSequences: ['a', 'b', 'c', 'd'] },
    });
  });

  it('offers tools as the client wants them called', () => {
    const list = [{ name: 'look', schema: { type: 'object' } }];
    const toolConfig = (tools: TextCall['tools']) =>
      (
        buildConverseBody({ model: 'm', options: {}, maxTokens: 9, messages: [], ...(tools && { tools }) }, host) as {
          toolConfig?: { toolChoice: object };
        }
      ).toolConfig;
    expect(toolConfig({ list, choice: 'none' })).to.equal(undefined);
    expect(toolConfig({ list })?.toolChoice).to.deep.equal({ auto: {} });
    expect(toolConfig({ list, choice: 'any' })?.toolChoice).to.deep.equal({ any: {} });
    expect(toolConfig({ list, choice: { name: 'look' } })?.toolChoice).to.deep.equal({ tool: { name: 'look' } });
  });

  const said = (role: 'user' | 'assistant', ...content: TextCall['messages'][number]['content']) => ({ role, content });
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const asked = (call: Partial<TextCall>) =>
    buildConverseBody({ model: 'm', options: {}, maxTokens: 9, messages: [], ...call }, host) as {
      messages: object[];
      inferenceConfig: object;
      toolConfig?: { tools: { toolSpec: object }[] };
    };
  const called = (id: string) => said('assistant', { type: 'tool-call', id, name: 'look', json: '{}' });
  const answered = (id: string) =>
    said('user', { type: 'tool-result', id, name: 'look', isError: false, content: [text('Here.')] });

  it('says what one role says in a row as one message', () => {
    const messages = [HI, said('user', text('there')), said('assistant', text('Yes?'))];
    expect(asked({ messages }).messages).to.deep.equal([
      { role: 'user', content: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'assistant', content: [{ text: 'Yes?' }] },
    ]);
    expect(HI.content).to.deep.equal([text('Hi')]);
  });

  it('has a user begin a conversation that the assistant began', () => {
    const messages = [said('assistant', text('How can I help?')), HI];
    expect(asked({ messages }).messages).to.deep.equal([
      { role: 'user', content: [{ text: 'Hello.' }] },
      { role: 'assistant', content: [{ text: 'How can I help?' }] },
      { role: 'user', content: [{ text: 'Hi' }] },
    ]);
  });

  it('spells ids of calls in the alphabet of the vendor, in results too', () => {
    const idsOf = (id: string): string => {
      // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
      const [, call, result] = asked({ messages: [HI, called(id), answered(id)] }).messages as any[];
      const { toolUseId } = call.content[0].toolUse;
      expect(result.content[0].toolResult.toolUseId).to.equal(toolUseId);
      return toolUseId;
    };
    expect(idsOf('tooluse_Ab-1')).to.equal('tooluse_Ab-1');
    expect(idsOf('functions.look:0')).to.match(/^call_[0-9a-f]{24}$/);
    expect(idsOf('functions.look:0')).not.to.equal(idsOf('functions.look:1'));
  });

  describe('cache markers', () => {
    const cache = { ttl: '1h' } as const;
    const POINT = { cachePoint: { type: 'default' } };
    const marked = (words: string) => ({ ...text(words), cache });
    const call: TextCall = {
      model: 'm',
      options: {},
      maxTokens: 9,
      system: [marked('A'), marked('B'), text('C')],
      tools: { list: [{ name: 'look', schema: { type: 'object' }, cache }] },
      messages: [
        said('user', marked('1')),
        { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'look', json: '{}', cache }] },
        {
          role: 'user',
          content: [
            { type: 'tool-result', id: 'a', name: 'look', isError: false, content: [marked('Here.')], cache },
            marked('2'),
          ],
        },
      ],
    };
    const sent = async (options: TextCall['options']) => {
      const told = await vendor.tell(vendor.open(), { ...call, options }, '{}', { status: 429 });
      // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
      return told.sent.body as any;
    };

    it('go along as points of the system prompt and the latest messages, four at most', async () => {
      const { system, messages, toolConfig } = await sent({ cacheMarkers: 'send' });
      expect(system).to.deep.equal([{ text: 'A' }, { text: 'B' }, POINT, { text: 'C' }]);
      expect(messages[0].content).to.deep.equal([{ text: '1' }]);
      expect(messages[1].content.slice(1)).to.deep.equal([POINT]);
      expect(messages[2].content).to.deep.equal([
        { toolResult: { toolUseId: 'a', content: [{ text: 'Here.' }], status: 'success' } },
        POINT,
        { text: '2' },
        POINT,
      ]);
      expect(JSON.stringify(toolConfig)).not.to.contain('cachePoint');
    });

    it('are omitted by default, because models without a cache refuse them', async () => {
      expect(JSON.stringify(await sent({}))).not.to.contain('cachePoint');
    });

    it('are told to the gateway', () => {
      expect(vendor.open().cacheMarkers).to.equal(false);
      expect(vendor.open({ cacheMarkers: 'send' }).cacheMarkers).to.equal(true);
    });
  });

  it('offers a tool that is none after calls, where none may be made', () => {
    const list = [{ name: 'look', schema: { type: 'object' } }];
    const messages = [HI, called('a'), answered('a')];
    for (const tools of [undefined, { list, choice: 'none' as const }]) {
      const { toolConfig } = asked({ messages, ...(tools && { tools }) });
      expect(toolConfig).to.have.all.keys('tools');
      expect(toolConfig?.tools.map(({ toolSpec }) => toolSpec)).to.have.nested.property('[0].name', 'none');
    }
    expect(asked({ messages: [HI] })).not.to.have.property('toolConfig');
  });

  it('leaves out an empty description and blank stop strings, which the vendor refuses', () => {
    const list = [{ name: 'look', description: '', schema: { type: 'object' } }];
    const { toolConfig, inferenceConfig } = asked({ tools: { list }, stops: ['\n\n', ' '] });
    expect(toolConfig?.tools[0]?.toolSpec).to.have.all.keys('name', 'inputSchema');
    expect(inferenceConfig).to.deep.equal({ maxTokens: 9 });
    expect(asked({ stops: ['\n', 'END'] }).inferenceConfig).to.deep.include({ stopSequences: ['END'] });
  });

  it('names the stop string that ended an answer if it was the only one', async () => {
    const end = async (stops: readonly string[], stopReason: string) => {
      const body = encodeAwsEvents([{ event: 'any', data: { stopReason } }]);
      return (await vendor.tell(vendor.open(), { ...HELLO, model: 'm', stops }, body)).parts.at(-1);
    };
    const finish = { type: 'finish', reason: 'stop', raw: 'stop_sequence' };
    expect(await end(['END'], 'stop_sequence')).to.deep.equal({ ...finish, sequence: 'END' });
    expect(await end(['END', 'STOP'], 'stop_sequence')).to.deep.equal(finish);
    expect(await end(['END'], 'end_turn')).to.deep.equal({ ...finish, raw: 'end_turn' });
  });

  const tell = async (model: string, ...data: readonly object[]) => {
    const body = encodeAwsEvents(data.map((one) => ({ event: 'any', data: one })));
    return vendor.tell(vendor.open(), { ...HELLO, model }, body);
  };

  it('counts what is cached beside the prompt, also of models whose counts of it say otherwise', async () => {
    const cached = { cacheReadInputTokens: 4, cacheWriteInputTokens: 3 };
    for (const [model, usage, input] of [
      ['eu.anthropic.m', { inputTokens: 10, ...cached }, 10],
      ['openai.m', { inputTokens: 10, ...cached }, 3],
      ['us.openai.m', { inputTokens: 7, ...cached }, 0],
      ['openai.m', { inputTokens: 6, ...cached }, 6],
      ['openai.m', { inputTokens: 6 }, 6],
      ['notopenai.m', { inputTokens: 10, ...cached }, 10],
    ] as const) {
      const { parts } = await tell(model, { usage: { ...usage, outputTokens: 2 } });
      const read = 'cacheReadInputTokens' in usage ? { cacheRead: 4, cacheWrite: 3 } : {};
      expect(parts, `${model} ${input}`).to.deep.equal([{ type: 'usage', input, output: 2, ...read }]);
    }
  });

  it('keeps reasoning that is hidden, with its state', async () => {
    const { parts } = await tell('m', { contentBlockIndex: 0, delta: { reasoningContent: { redactedContent: 'x' } } });
    expect(parts.slice(1)).to.deep.equal([
      { type: 'block-start', index: 0, block: { type: 'reasoning', redacted: true } },
      { type: 'block-state', index: 0, state: { format: 'converse', value: 'x' } },
    ]);
  });

  it('drops another answer behind the end', async () => {
    const { parts } = await tell(
      'm',
      { role: 'assistant' },
      { contentBlockIndex: 0, delta: { text: 'Hi' } },
      { stopReason: 'end_turn' },
      { usage: { inputTokens: 20, outputTokens: 10 } },
      { role: 'assistant' },
      { contentBlockIndex: 0, delta: { text: 'Lo' } },
      { usage: { inputTokens: 40, outputTokens: 90 } },
    );
    expect(parts.flatMap((part) => (part.type === 'block-delta' ? part.text : []))).to.deep.equal(['Hi']);
    expect(parts.findLast(({ type }) => type === 'usage')).to.include({ input: 20, output: 10 });
  });
});
