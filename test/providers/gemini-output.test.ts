// What a Gemini model is asked for besides the messages: the form of the answer, and thinking in the way it takes.
import { expect } from 'chai';
import type { ImageCall, OutputFormat, Reasoning, TextCall, Tools } from '../../lib/upstream/contract/provider.ts';
import plugin from '../../providers/gemini/index.ts';
import { itLong } from '../../testkit/long.ts';
import { HELLO, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://generate.example';
const ANSWER = 'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n';

const schema = { type: 'object' };
const SHAPED: OutputFormat = { type: 'json-schema', name: 'place', schema };
const tools = (choice: Tools['choice'] & {}): Tools => ({ list: [{ name: 'look', schema }], choice });
const on = (effort: 'minimal' | 'high' | 'xhigh' | 'max', budgetTokens?: number): Reasoning => ({
  mode: 'on',
  effort,
  ...(budgetTokens !== undefined && { budgetTokens }),
});

describe('gemini: form of the answer and thinking', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1beta`, apiKey: 'k1' });

  const ask = async (call: Partial<TextCall>, options: object = {}) =>
    (await vendor.tell(vendor.open(), { ...HELLO, model: 'gemini-x', ...call, options: { ...options } }, ANSWER)).sent;

  const json = { responseMimeType: 'application/json' };
  const thinks = (thinkingConfig: object) => ({ thinkingConfig });
  const shows = (amount: object = {}) => thinks({ ...amount, includeThoughts: true });
  const older = { thinking: 'budget' };
  const rows: readonly (readonly [call: Partial<TextCall>, options: object, config: object])[] = [
    [{ format: { type: 'json' } }, {}, json],
    [{ format: SHAPED }, {}, { ...json, responseJsonSchema: schema }],
    [{ format: SHAPED, tools: tools('auto') }, {}, { ...json, responseJsonSchema: schema }],
    [{ format: SHAPED, tools: tools('none') }, {}, { ...json, responseJsonSchema: schema }],
    // Refused beside a call that is required.
    [{ format: SHAPED, tools: tools('any') }, {}, {}],
    [{ format: { type: 'json' }, tools: tools({ name: 'look' }) }, {}, {}],
    [{ reasoning: on('minimal', 1024) }, {}, shows({ thinkingLevel: 'minimal' })],
    [{ reasoning: on('high') }, {}, shows({ thinkingLevel: 'high' })],
    [{ reasoning: on('xhigh') }, {}, shows({ thinkingLevel: 'high' })],
    [{ reasoning: on('max') }, {}, shows({ thinkingLevel: 'high' })],
    [{ reasoning: { mode: 'off' } }, {}, thinks({ thinkingLevel: 'minimal' })],
    [{ reasoning: { mode: 'auto' } }, {}, shows()],
    [{ reasoning: on('high', 2000) }, older, shows({ thinkingBudget: 2000 })],
    [{ reasoning: on('high') }, older, shows()],
    [{ reasoning: { mode: 'off' } }, older, thinks({ thinkingBudget: 0 })],
    [{ reasoning: { mode: 'auto' } }, older, shows({ thinkingBudget: -1 })],
    [{ reasoning: { mode: 'auto', display: 'summarized' } }, {}, shows()],
    [{ reasoning: { mode: 'auto', display: 'omitted' } }, {}, {}],
    [{ reasoning: { mode: 'on', effort: 'high', display: 'omitted' } }, {}, thinks({ thinkingLevel: 'high' })],
  ];
  for (const [call, options, config] of rows) {
    it(`asks for ${JSON.stringify(config)} for ${JSON.stringify(call)} ${JSON.stringify(options)}`, async () => {
      const { body } = await ask(call, options);
      expect(body.generationConfig).to.deep.equal({ maxOutputTokens: 64, ...config });
    });
  }

  for (const [model, signature] of [
    ['gemini-1.5-pro', undefined],
    ['gemini-2.5-flash', undefined],
    ['gemini-3-pro', 'skip_thought_signature_validator'],
    ['gemini-pro-latest', 'skip_thought_signature_validator'],
  ] as const) {
    it(`says of calls of others to ${model}: ${signature ?? 'nothing'}`, async () => {
      const call = { type: 'tool-call', id: 'a', name: 'look', json: '{}' } as const;
      const { body } = await ask({ model, messages: [...HELLO.messages, { role: 'assistant', content: [call] }] });
      const functionCall = { id: 'a', name: 'look', args: {} };
      expect((body.contents as object[])[1]).to.deep.equal({
        role: 'model',
        parts: [{ functionCall, ...(signature !== undefined && { thoughtSignature: signature }) }],
      });
    });
  }

  it('gets a seed of 32 bits', async () => {
    const seedOf = async (seed: number) => (await ask({ sampling: { seed } })).body.generationConfig;
    expect(await seedOf(2 ** 31 - 1)).to.deep.equal({ maxOutputTokens: 64, seed: 2 ** 31 - 1 });
    expect(await seedOf(2 ** 31 + 5)).to.deep.equal({ maxOutputTokens: 64, seed: 5 });
    expect(await seedOf(-(2 ** 40) - 7)).to.deep.equal({ maxOutputTokens: 64, seed: -7 });
  });

  it('names a tuned model by its collection', async () => {
    expect((await ask({ model: 'tunedModels/own-1' })).path).to.match(/^\/v1beta\/tunedModels\/own-1:stream/);
  });

  const draw = async (call: Partial<ImageCall>, data: string) => {
    vendor.answer({ candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] } }] });
    const asked = { model: 'draw-x', prompt: 'A fox', images: [], options: {}, ...call };
    return vendor.open().image?.(asked, new AbortController().signal);
  };

  itLong('takes an image of 24 MiB', async () => {
    const bytes = Buffer.alloc(24 * 1024 * 1024, 7);
    const result = await draw({}, bytes.toString('base64'));
    const [image] = (result?.images ?? []) as readonly { readonly bytes: Buffer }[];
    expect(image?.bytes.equals(bytes)).to.equal(true);
  });

  for (const aspect of ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']) {
    it(`draws ${aspect} as it is asked for`, async () => {
      await draw({ aspect }, 'AA==');
      expect(vendor.sent.at(-1)?.body).to.have.nested.property('generationConfig.imageConfig.aspectRatio', aspect);
    });
  }
});
