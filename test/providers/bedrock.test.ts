// The plugin of Bedrock: its signature, and what no recording shows of its requests.
import { expect } from 'chai';
import { encodeAwsEvents } from '../../lib/upstream/check/aws-events.ts';
import type { Host, TextCall } from '../../lib/upstream/contract/provider.ts';
import { fitEffort } from '../../lib/upstream/formats/efforts.ts';
import { messageThinking } from '../../lib/upstream/formats/message/thinking.ts';
import { joinTurns } from '../../lib/upstream/formats/turns.ts';
import plugin from '../../providers/bedrock/index.ts';
import { buildConverseBody } from '../../providers/bedrock/request.ts';
import { signRequest } from '../../providers/bedrock/sign.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://bedrock-runtime.eu-central-1.amazonaws.com';
const KEY = 'AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const host = {
  argumentsOf: JSON.parse,
  joinTurns,
  fitEffort,
  message: { thinking: messageThinking },
} as unknown as Host;
const QUIRKS = { cacheMarkers: 'omit', reasoning: 'auto' } as const;
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
    const drawn = (sampling: TextCall['sampling']) => buildConverseBody({ ...call, sampling }, host, QUIRKS);
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
    expect(buildConverseBody(call, host, QUIRKS)).to.deep.equal({
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
        buildConverseBody(
          { model: 'm', options: {}, maxTokens: 9, messages: [], ...(tools && { tools }) },
          host,
          QUIRKS,
        ) as {
          toolConfig?: { toolChoice: object };
        }
      ).toolConfig;
    expect(toolConfig({ list, choice: 'none' })).to.equal(undefined);
    for (const asked of [{ list }, { list, choice: 'auto' }] as const) expect(toolConfig(asked)).to.have.keys('tools');
    expect(toolConfig({ list, choice: 'any' })?.toolChoice).to.deep.equal({ any: {} });
    expect(toolConfig({ list, choice: { name: 'look' } })?.toolChoice).to.deep.equal({ tool: { name: 'look' } });
  });

  const said = (role: 'user' | 'assistant', ...content: TextCall['messages'][number]['content']) => ({ role, content });
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const asked = (call: Partial<TextCall>) =>
    buildConverseBody({ model: 'm', options: {}, maxTokens: 9, messages: [], ...call }, host, QUIRKS) as {
      messages: object[];
      inferenceConfig: object;
      toolConfig?: { tools: { toolSpec: object }[] };
    };
  const called = (id: string) => said('assistant', { type: 'tool-call', id, name: 'look', json: '{}' });
  const answered = (id: string) =>
    said('user', { type: 'tool-result', id, name: 'look', isError: false, content: [text('Here.')] });

  it('says what one role says in a row as one message, and ends one to be continued without white space', () => {
    const messages = [HI, said('user', text('there')), said('assistant', text('Yes: '), text('1, \n'))];
    expect(asked({ messages }).messages).to.deep.equal([
      { role: 'user', content: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'assistant', content: [{ text: 'Yes: ' }, { text: '1,' }] },
    ]);
    expect(HI.content).to.deep.equal([text('Hi')]);
  });

  it('says of each result whether its tool failed', () => {
    const result = { type: 'tool-result', name: 'look', content: [text('No.')] } as const;
    const results = said('user', { ...result, id: 'a', isError: true }, { ...result, id: 'b', isError: false });
    const asks = said('assistant', ...called('a').content, ...called('b').content);
    const content = [{ text: 'No.' }];
    expect(asked({ messages: [HI, asks, results] }).messages.at(-1)).to.deep.equal({
      role: 'user',
      content: [
        { toolResult: { toolUseId: 'a', content, status: 'error' } },
        { toolResult: { toolUseId: 'b', content, status: 'success' } },
      ],
    });
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

  it('leaves out blank descriptions and blank stop strings, which the vendor refuses', () => {
    const list = ['', ' \n'].map((description, at) => ({ name: `look${at}`, description, schema: { type: 'object' } }));
    const { toolConfig, inferenceConfig } = asked({ tools: { list }, stops: ['\n\n', ' '] });
    for (const { toolSpec } of toolConfig?.tools ?? []) expect(toolSpec).to.have.all.keys('name', 'inputSchema');
    expect(inferenceConfig).to.deep.equal({ maxTokens: 9 });
    expect(asked({ stops: ['\n', 'END'] }).inferenceConfig).to.deep.include({ stopSequences: ['END'] });
  });

  const CLAUDE = 'eu.anthropic.claude-opus-4-8';
  const OLDER = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  const OPEN = 'openai.gpt-oss-120b-1:0';
  const NOVA = 'us.amazon.nova-2-lite-v1:0';
  const high = { mode: 'on', effort: 'high', budgetTokens: 2048 } as const;
  const look = { list: [{ name: 'look', schema: { type: 'object' } }] };
  const thought = { type: 'reasoning', text: 'Hm.', state: { format: 'converse', value: 's' } } as const;
  const REASONING: readonly (readonly [model: string, call: Partial<TextCall>, fields: object | undefined])[] = [
    [CLAUDE, {}, undefined],
    [CLAUDE, { reasoning: high }, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    [
      CLAUDE,
      { reasoning: { mode: 'on', effort: 'minimal', display: 'summarized' } },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    [CLAUDE, { reasoning: { mode: 'auto' } }, { thinking: { type: 'adaptive' } }],
    [CLAUDE, { reasoning: { mode: 'off' } }, { thinking: { type: 'disabled' } }],
    [
      CLAUDE,
      { reasoning: { mode: 'off', effort: 'max' } },
      { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
    ],
    [CLAUDE, { reasoning: high, tools: { ...look, choice: 'any' } }, { output_config: { effort: 'high' } }],
    [OLDER, { reasoning: high }, { thinking: { type: 'enabled', budget_tokens: 2048 } }],
    [
      'anthropic.claude-3-7-sonnet-20250219-v1:0',
      { reasoning: high },
      { thinking: { type: 'enabled', budget_tokens: 2048 } },
    ],
    [OLDER, { reasoning: { mode: 'on', effort: 'high' } }, undefined],
    [OLDER, { reasoning: { mode: 'auto' } }, undefined],
    [OLDER, { reasoning: { mode: 'off' } }, { thinking: { type: 'disabled' } }],
    [OLDER, { reasoning: high, tools: { ...look, choice: { name: 'look' } } }, undefined],
    [OLDER, { reasoning: high, messages: [HI, called('a'), answered('a')] }, undefined],
    [
      OLDER,
      { reasoning: high, messages: [HI, said('assistant', thought, ...called('a').content), answered('a')] },
      { thinking: { type: 'enabled', budget_tokens: 2048 } },
    ],
    [OPEN, { reasoning: high }, { reasoning_effort: 'high' }],
    [OPEN, { reasoning: { mode: 'on', effort: 'xhigh' } }, { reasoning_effort: 'high' }],
    [OPEN, { reasoning: { mode: 'off' } }, { reasoning_effort: 'low' }],
    [OPEN, { reasoning: { mode: 'auto' } }, undefined],
    [
      NOVA,
      { reasoning: { mode: 'on', effort: 'low' } },
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
    ],
    [NOVA, { reasoning: high }, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    [NOVA, { reasoning: { mode: 'auto' } }, { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } }],
    [NOVA, { reasoning: { mode: 'off' } }, undefined],
    ['eu.amazon.nova-lite-v1:0', { reasoning: high }, undefined],
    ['arn:aws:bedrock:eu-central-1:1:application-inference-profile/x', { reasoning: high }, undefined],
  ];
  for (const [model, call, fields] of REASONING) {
    it(`asks ${model} to reason as ${JSON.stringify({ ...call, messages: call.messages?.length })}`, () => {
      const body = JSON.parse(JSON.stringify(asked({ model, ...call }))) as { additionalModelRequestFields?: object };
      expect(body.additionalModelRequestFields).to.deep.equal(fields);
    });
  }

  it('reasons in the fields that a route names, whatever its id', async () => {
    const options = { reasoning: 'reasoning_effort' };
    const call = { ...HELLO, model: 'own-profile', options, reasoning: high };
    const { sent } = await vendor.tell(vendor.open(), call, '{}', { status: 429 });
    expect(sent.body.additionalModelRequestFields).to.deep.equal({ reasoning_effort: 'high' });
    const none = await vendor.tell(vendor.open({ reasoning: 'none' }), { ...call, model: OPEN, options: {} }, '{}', {
      status: 429,
    });
    expect(none.sent.body).not.to.have.property('additionalModelRequestFields');
  });

  it('gets no sampling beside thinking', () => {
    const sampling = { temperature: 0.5 };
    const config = (reasoning: TextCall['reasoning']) =>
      asked({ model: CLAUDE, sampling, ...(reasoning && { reasoning }) }).inferenceConfig;
    expect(config(high)).to.deep.equal({ maxTokens: 9 });
    expect(config({ mode: 'off' })).to.deep.equal({ maxTokens: 9, temperature: 0.5 });
    expect(config(undefined)).to.deep.equal({ maxTokens: 9, temperature: 0.5 });
  });

  it('gets the schema of an answer as text, closed, and no JSON without one', async () => {
    const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } } };
    const ask = async (format: TextCall['format']) =>
      (await vendor.tell(vendor.open(), { ...HELLO, model: CLAUDE, ...(format && { format }) }, '{}', { status: 429 }))
        .sent.body.outputConfig;
    const sent = (await ask({ type: 'json-schema', name: 'person', description: 'Who.', schema })) as {
      textFormat: { structure: { jsonSchema: { schema: string } } };
    };
    const { schema: text, ...named } = sent.textFormat.structure.jsonSchema;
    expect([sent.textFormat, named]).to.deep.include({ name: 'person', description: 'Who.' });
    expect(sent.textFormat).to.include({ type: 'json_schema' });
    expect(JSON.parse(text)).to.deep.equal({
      type: 'object',
      properties: { age: { type: 'integer', description: '{minimum: 0}' } },
      additionalProperties: false,
    });
    expect(await ask({ type: 'json' })).to.equal(undefined);
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
