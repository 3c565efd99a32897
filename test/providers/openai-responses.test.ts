import { expect } from 'chai';
import type { TextCall } from '../../lib/plugin/contract.ts';
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

  it('says who said what by the types of the parts', async () => {
    const messages: TextCall['messages'] = [
      { role: 'assistant', content: [{ type: 'text', text: 'Before' }] },
      { role: 'user', content: [{ type: 'image', mediaType: 'image/png', bytes: Buffer.from('abc') }] },
    ];
    const { body, headers } = await ask({}, { system: 'Be brief.', messages });
    expect(headers).not.to.have.property('authorization');
    expect(body.instructions).to.equal('Be brief.');
    expect(body.input).to.deep.equal([
      { role: 'assistant', content: [{ type: 'output_text', text: 'Before' }] },
      { role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,YWJj' }] },
    ]);
  });
});
