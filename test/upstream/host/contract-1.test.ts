// A plugin of contract 1 sees only what it was written for, and what it yields is read by contract 2.
import { expect } from 'chai';
import type { Content, Host, ProviderPart, ProviderPlugin, TextCall } from '../../../lib/upstream/contract/provider.ts';
import { adaptPlugin } from '../../../lib/upstream/host/contract-1.ts';
import { createHost } from '../../../lib/upstream/host/host.ts';

// biome-ignore lint/suspicious/noExplicitAny: a plugin of the older contract has other types
type Old = any;

const SIGNAL = new AbortController().signal;
const host = createHost({ upstream: 'old', log: { warn() {} }, allowedOrigins: [] });
const cache = { ttl: '5m' } as const;
const text = { type: 'text', text: 'Hi' } as const;
const bytes = Buffer.from('%PDF-');

const content: readonly Content[] = [
  { type: 'reasoning', text: 'hm', state: { format: 'messages', value: 's' } },
  { ...text, cache },
  { type: 'tool-call', id: 'a', name: 'look', json: '{}', state: { format: 'plugin', value: 'mine' }, cache },
  { type: 'tool-call', id: 'b', name: 'look', json: '{}', state: { format: 'messages', value: 'theirs' } },
  { type: 'tool-call', id: 'c', name: 'look', json: '{}', state: { format: 'contents', value: 'signed' } },
];
const results: readonly Content[] = [
  { type: 'document', mediaType: 'application/pdf', bytes },
  { type: 'audio', mediaType: 'audio/wav', bytes },
  {
    type: 'tool-result',
    id: 'a',
    name: 'look',
    isError: false,
    content: [
      text,
      { type: 'document', mediaType: 'application/pdf', bytes },
      { type: 'tool-reference', name: 'look' },
    ],
    cache,
  },
];
const CALL: TextCall = {
  model: 'm',
  system: [{ ...text, cache }, text],
  messages: [
    { role: 'assistant', content },
    { role: 'user', content: results },
  ],
  tools: { list: [{ name: 'look', schema: {}, cache }], choice: 'auto' },
  maxTokens: 9,
  options: {},
  stops: ['x'],
  cacheKey: 'k',
  cacheRetention: '24h',
};

/** The plugin's provider is made by `create`. */
function adapt(create: (host: Old) => object): ReturnType<ProviderPlugin['create']> {
  const plugin = { contract: 1, name: 'old', settings: () => ({}), create: (_: object, given: Host) => create(given) };
  return adaptPlugin(plugin as Old).create({}, host);
}

async function read(provider: ReturnType<ProviderPlugin['create']>): Promise<readonly ProviderPart[]> {
  const parts: ProviderPart[] = [];
  for await (const batch of provider.text?.(CALL, SIGNAL) ?? []) parts.push(...batch);
  return parts;
}

describe('a plugin of contract 1', () => {
  after(() => host.close());

  it('is given texts, images, calls and results, without what is newer', async () => {
    let seen: Old;
    await read(
      adapt(() => ({
        async *text(call: Old) {
          seen = call;
          yield [];
        },
      })),
    );
    expect(seen).to.deep.equal({
      model: 'm',
      system: 'Hi\n\nHi',
      messages: [
        {
          role: 'assistant',
          content: [
            text,
            { type: 'tool-call', id: 'a', name: 'look', json: '{}', state: 'mine' },
            { type: 'tool-call', id: 'b', name: 'look', json: '{}' },
            { type: 'tool-call', id: 'c', name: 'look', json: '{}', state: 'signed' },
          ],
        },
        { role: 'user', content: [{ type: 'tool-result', id: 'a', name: 'look', isError: false, content: [text] }] },
      ],
      tools: { list: [{ name: 'look', schema: {} }], choice: 'auto' },
      maxTokens: 9,
      options: {},
    });
  });

  it('is given an image, a format and a wish to reason as they are', async () => {
    let seen: Old;
    const provider = adapt(() => ({
      async *text(call: Old) {
        seen = call;
        yield [];
      },
    }));
    const image = { type: 'image', mediaType: 'image/png', bytes } as const;
    const asked = { format: { type: 'json' }, reasoning: { mode: 'off' } } as const;
    const call: TextCall = { ...CALL, ...asked, messages: [{ role: 'user', content: [{ ...image, cache }] }] };
    for await (const _ of provider.text?.(call, SIGNAL) ?? []);
    expect(seen).to.deep.include({ ...asked, messages: [{ role: 'user', content: [image] }] });
  });

  it('yields the state of a call in its block, which becomes a part', async () => {
    const tool = { type: 'tool', id: 'a', name: 'look' };
    const provider = adapt(() => ({
      async *text() {
        yield [{ type: 'start' }, { type: 'block-start', index: 0, block: { ...tool, state: 's' } }];
        yield [
          { type: 'block-end', index: 0 },
          { type: 'finish', reason: 'tool' },
        ];
      },
    }));
    expect(await read(provider)).to.deep.equal([
      { type: 'start' },
      { type: 'block-start', index: 0, block: tool },
      { type: 'block-state', index: 0, state: { format: 'plugin', value: 's' } },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'tool' },
    ]);
  });

  it('yields blocks without a state as they are, also those that are none: the gateway tells what is wrong', async () => {
    const tool = { type: 'tool', id: 'a', name: 'look' };
    const parts = [undefined, { ...tool, state: '' }, { ...tool, state: 5 }].map((block) => {
      return { type: 'block-start', index: 0, ...(block && { block }) };
    });
    const provider = adapt(() => ({
      async *text() {
        yield parts;
      },
    }));
    expect(await read(provider)).to.deep.equal(parts);
  });

  it('has the formats of the host for its calls', async () => {
    const bodies: Old[] = [];
    const provider = adapt((given) => ({
      async *text(call: Old) {
        const signed = { ...call, messages: [{ role: 'assistant', content: [{ ...call.messages[0].content[1] }] }] };
        bodies.push(given.chat.body(call, String, { hasBlankThoughts: true }));
        bodies.push(given.message.body(call, String));
        bodies.push(given.contents.body(signed, String));
        yield [];
      },
    }));
    await read(provider);
    const [chat, message, contents] = bodies;
    expect(chat.messages[0]).to.deep.equal({ role: 'system', content: 'Hi\n\nHi' });
    expect(chat.messages[1]).to.include({ content: 'Hi', reasoning_content: ' ' });
    expect(message.system).to.equal('Hi\n\nHi');
    expect(contents.contents[0].parts[0]).to.include({ thoughtSignature: 'mine' });
  });

  it('keeps its methods, and what it is without texts', async () => {
    class Made {
      #closed = 0;
      readonly tools = true;
      async *text() {}
      async image() {
        return { images: [], closed: this.#closed };
      }
      async close() {
        this.#closed += 1;
      }
    }
    const provider = adapt(() => new Made());
    await provider.close?.();
    expect(await provider.image?.({} as never, SIGNAL)).to.deep.equal({ images: [], closed: 1 });
    expect(provider.tools).to.equal(true);
    const video = { submit() {} };
    expect(adapt(() => ({ async *text() {}, video })).video).to.equal(video);
    const painter = { image: async () => ({ images: [] }) };
    expect(adapt(() => painter)).to.equal(painter);
  });
});
