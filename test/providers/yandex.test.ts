import { expect } from 'chai';
import type { TextCall } from '../../lib/plugin/contract.ts';
import { checkSettings } from '../../lib/plugin/settings.ts';
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

  it('names models within the folder, that of a route before the settings', async () => {
    const options = { folder: 'b2g' };
    expect((await ask({ options })).sent.body.modelUri).to.equal('gpt://b2g/yandexgpt/latest');
    expect((await ask({ model: 'ds://tuned' })).sent.body.modelUri).to.equal('ds://tuned');
  });

  it('leaves out pictures, which no model sees', async () => {
    const picture = { type: 'image', mediaType: 'image/png', bytes: new Uint8Array(8) } as const;
    const { body } = (await ask({ messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, picture] }] }))
      .sent;
    expect(body.messages).to.deep.equal([{ role: 'user', text: 'What?' }]);
  });

  it('sends on what each line adds', async () => {
    const answer = line('Од', 'PARTIAL') + line('Один', 'PARTIAL') + line('Один.', 'FINAL');
    const { parts } = await ask({}, answer);
    const texts = parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
    expect(texts).to.deep.equal(['Од', 'ин', '.']);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: 'ALTERNATIVE_STATUS_FINAL' });
  });

  for (const name of ['apiKey', 'folder']) {
    it(`needs ${name}`, () => {
      const { [name]: _, ...settings } = { apiKey: KEY, folder: 'b1g' } as Record<string, string>;
      const check = () => checkSettings({ plugin, upstream: 'main', settings });
      expect(check).to.throw(`\`${name}\` is required`);
    });
  }
});
