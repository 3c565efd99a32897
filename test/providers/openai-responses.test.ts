import { expect } from 'chai';
import type { TextCall } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/openai-responses/index.ts';
import { HELLO, type Sent, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://responses.example';
const ANSWER =
  'data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"Hi"}\n\n' +
  'data: {"type":"response.completed","response":{"status":"completed"}}\n\n';

const CALL: TextCall = { ...HELLO, model: 'gpt-x' };

describe('openai-responses', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: ORIGIN });

  async function ask(settings: object, call: Partial<TextCall> = {}): Promise<Sent> {
    const { sent, parts } = await vendor.tell(vendor.open(settings), { ...CALL, ...call }, ANSWER);
    expect(parts).to.deep.include({ type: 'block-delta', index: 0, text: 'Hi' });
    return sent;
  }

  it('asks for a stream that is not kept, and sends nothing else', async () => {
    const { path, headers, body } = await ask({ baseUrl: `${ORIGIN}/v1/`, apiKey: 'sk-test-01234' });
    expect(path).to.equal('/v1/responses');
    expect(headers.authorization).to.equal('Bearer sk-test-01234');
    expect(body).to.deep.equal({
      model: 'gpt-x',
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      max_output_tokens: 64,
      store: false,
      stream: true,
    });
  });

  it('asks for an answer as long as the client wants it, beside its form', async () => {
    const call = { verbosity: 'low', format: { type: 'json' } } as const;
    const format = { type: 'json_object' };
    expect((await ask({}, call)).body).to.deep.include({ text: { format, verbosity: 'low' } });
    expect((await ask({}, { verbosity: 'high' })).body).to.deep.include({ text: { verbosity: 'high' } });
    expect((await ask({ verbosity: 'omit' }, call)).body).to.deep.include({ text: { format } });
    expect((await ask({ verbosity: 'omit' }, { verbosity: 'high' })).body).not.to.have.property('text');
  });

  it('says that a client takes one call at a time, unless the model refuses the field', async () => {
    const tools = { list: [{ name: 'look', schema: {} }], single: true } as const;
    expect((await ask({}, { tools })).body).to.include({ parallel_tool_calls: false });
    const { body } = await ask({ parallelCalls: 'omit' }, { tools });
    expect(body).not.to.have.property('parallel_tool_calls');
    expect(body.tools).to.have.length(1);
  });

  const events = (...values: readonly object[]) =>
    [{ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hi' }, ...values]
      .map((value) => `data: ${JSON.stringify(value)}\n\n`)
      .join('');

  const failed: readonly (readonly [what: string, answer: string, kind: string])[] = [
    ['a failure without its response', events({ type: 'response.failed' }), 'server'],
    [
      'a failure without its status',
      events({ type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'slow' } } }),
      'rate',
    ],
    [
      'reasoning of another account',
      events({
        type: 'response.failed',
        response: {
          status: 'failed',
          error: { code: 'invalid_encrypted_content', message: 'It could not be verified.' },
        },
      }),
      'request',
    ],
    ['a failure without a word', events({ type: 'response.failed', response: { error: {} } }), 'server'],
    ['an end that was cancelled', events({ type: 'response.completed', response: { status: 'cancelled' } }), 'server'],
    [
      'an error beside the end',
      events({ type: 'response.completed', response: { status: 'completed', error: { code: 503, message: 'x' } } }),
      'overloaded',
    ],
    [
      'a whole response in progress',
      JSON.stringify({ object: 'response', status: 'in_progress', output: [] }),
      'server',
    ],
  ];
  for (const [what, answer, kind] of failed) {
    it(`calls ${what} a failure`, async () => {
      const { error } = await vendor.tell(vendor.open({}), CALL, answer);
      expect(error).to.include({ name: 'UpstreamFault', kind });
    });
  }

  it('goes by the name of the last event where the response does not say how it ended', async () => {
    const response = { incomplete_details: { reason: 'max_output_tokens' } };
    const answer = events({ type: 'response.incomplete', response });
    const { parts } = await vendor.tell(vendor.open({}), CALL, answer);
    expect(parts.at(-1)).to.include({ type: 'finish', reason: 'length' });
  });

  it('takes the text of the whole response when none came before', async () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }];
    const last = { type: 'response.completed', response: { status: 'completed', output } };
    const textOf = async (answer: string) => {
      const { parts } = await vendor.tell(vendor.open({}), CALL, answer);
      return parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
    };
    expect(await textOf(`data: ${JSON.stringify(last)}\n\n`)).to.equal('Hello.');
    expect(await textOf(events(last))).to.equal('Hi');
  });

  it('asks for no fewer tokens than the format takes', async () => {
    const askedFor = async (maxTokens: number) => (await ask({}, { maxTokens })).body.max_output_tokens;
    expect(await askedFor(1)).to.equal(16);
    expect(await askedFor(17)).to.equal(17);
  });

  it('asks for JSON among the messages, where its vendor looks for it', async () => {
    const system = [{ type: 'text' as const, text: 'Answer in JSON.' }];
    const hello = { role: 'user', content: [{ type: 'input_text', text: 'Hello' }] };
    const asked = { role: 'developer', content: [{ type: 'input_text', text: 'Answer in JSON.' }] };
    const json = await ask({}, { system, format: { type: 'json' } });
    expect(json.body).not.to.have.property('instructions');
    expect(json.body.input).to.deep.equal([asked, hello]);
    const shaped = await ask(
      {},
      { system, format: { type: 'json-schema', name: 'place', schema: { type: 'object' } } },
    );
    expect(shaped.body.instructions).to.equal('Answer in JSON.');
    expect(shaped.body.input).to.deep.equal([hello]);
  });

  it('says who said what by the types of the parts', async () => {
    const messages: TextCall['messages'] = [
      { role: 'assistant', content: [{ type: 'text', text: 'Before' }] },
      { role: 'user', content: [{ type: 'image', mediaType: 'image/png', bytes: Buffer.from('abc') }] },
    ];
    const { body, headers } = await ask({}, { system: [{ type: 'text', text: 'Be brief.' }], messages });
    expect(headers).not.to.have.property('authorization');
    expect(body.instructions).to.equal('Be brief.');
    expect(body.input).to.deep.equal([
      { role: 'assistant', content: [{ type: 'output_text', text: 'Before' }] },
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,YWJj' }] },
    ]);
  });
});
