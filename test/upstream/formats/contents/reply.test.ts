import { expect } from 'chai';
import { parseExactJson } from '../../../../lib/base/exact-json.ts';
import type { AnswerWriter, JsonObject, ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { ContentsReply, readImages } from '../../../../lib/upstream/formats/contents/reply.ts';
import { createFinishReason } from '../../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../../lib/upstream/host/writer.ts';

const fault = createHostFault({ secrets: [] });
const spoken = (tokenCount: unknown) => ({ modality: 'AUDIO', tokenCount });

describe('replies in the contents format', () => {
  const rows: readonly (readonly [usage: unknown, counts: object])[] = [
    [
      { promptTokenCount: 5, candidatesTokenCount: 8, thoughtsTokenCount: 2 },
      { input: 5, output: 10, reasoning: 2 },
    ],
    [
      { promptTokenCount: 50, cachedContentTokenCount: 40, candidatesTokenCount: 8, toolUsePromptTokenCount: 7 },
      { input: 17, cacheRead: 40, output: 8 },
    ],
    [
      { promptTokenCount: 5, candidatesTokenCount: 8, thoughtsTokenCount: 2, totalTokenCount: 13 },
      { input: 5, output: 8, reasoning: 2 },
    ],
    [
      { promptTokenCount: 5, candidatesTokenCount: 8, thoughtsTokenCount: 2, totalTokenCount: 15 },
      { input: 5, output: 10, reasoning: 2 },
    ],
    [
      { promptTokenCount: 5, candidatesTokenCount: 8, totalTokenCount: 20 },
      { input: 5, output: 15 },
    ],
    [
      { promptTokenCount: 5, totalTokenCount: 7 },
      { input: 5, output: 2 },
    ],
    [{ promptTokenCount: 5, totalTokenCount: 5 }, { input: 5 }],
    [
      { promptTokenCount: 5, candidatesTokenCount: 8, totalTokenCount: 9 },
      { input: 5, output: 8 },
    ],
    [
      { promptTokenCount: 5, cachedContentTokenCount: 5 },
      { input: 0, cacheRead: 5 },
    ],
    ...(
      [
        [[spoken(40)], undefined, 0, { input: 60, audio: 40 }],
        [[{ modality: 'TEXT', tokenCount: 60 }, spoken(40)], [spoken(25)], 30, { input: 55, audio: 15, cacheRead: 30 }],
        [[spoken(40)], [spoken(70)], 30, { input: 70, audio: 0, cacheRead: 30 }],
        [[spoken(90)], undefined, 30, { input: 0, audio: 70, cacheRead: 30 }],
        [[spoken(900)], undefined, 0, { input: 0, audio: 100 }],
        [[spoken(-1)], undefined, 0, { input: 100 }],
        [[spoken('many'), null], 'none', 0, { input: 100 }],
        [[{ modality: 'TEXT', tokenCount: 100 }], undefined, 0, { input: 100 }],
        ['none', undefined, 0, { input: 100 }],
      ] as const
    ).map(
      ([promptTokensDetails, cacheTokensDetails, cached, counts]) =>
        [
          {
            promptTokenCount: 100,
            ...(cached > 0 && { cachedContentTokenCount: cached }),
            promptTokensDetails,
            cacheTokensDetails,
          },
          counts,
        ] as const,
    ),
    [{ candidatesTokenCount: '8', thoughtsTokenCount: 'many' }, { output: 8 }],
    [{ candidatesTokenCount: 8, thoughtsTokenCount: -8 }, { output: 8 }],
    [{ thoughtsTokenCount: 2 }, { output: 2, reasoning: 2 }],
    [{}, {}],
  ];
  for (const [usageMetadata, counts] of rows) {
    it(`count ${JSON.stringify(usageMetadata)} as ${JSON.stringify(counts)}`, () => {
      const told: object[] = [];
      const out = { start: () => undefined, usage: (tokens: object) => told.push(tokens) } as unknown as AnswerWriter;
      new ContentsReply({ fault, finishReason: createFinishReason(fault) }).take({ usageMetadata }, out);
      expect(told).to.deep.equal([counts]);
    });
  }

  const kit = { fault, finishReason: createFinishReason(fault) };
  const candidate = (parts: unknown, more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });
  const read = (...chunks: readonly JsonObject[]) => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    const reader = new ContentsReply(kit);
    for (const chunk of chunks) if (!out.isDone) reader.take(chunk, out);
    out.close();
    return parts;
  };

  it('have texts without thoughts, and calls that are whole, each by itself', () => {
    const call = (name: string) => ({ functionCall: { id: name, name, args: { at: 1 } }, thoughtSignature: 's' });
    const parts = read(
      {
        responseId: 'r',
        modelVersion: 'm',
        ...candidate([{ text: 'hm', thought: true }, { text: 'So' }, { text: 1 }, null]),
      },
      candidate([call('a'), call('b')]),
      candidate('none', { finishReason: 'STOP' }),
    );
    const json = '{"at":1}';
    const state = { format: 'contents', value: 's' };
    const block = (index: number, block: { type: string; [name: string]: string }, text: string) => [
      { type: 'block-start', index, block },
      ...(block.type === 'tool' ? [{ type: 'block-state', index, state }] : []),
      { type: 'block-delta', index, text },
      { type: 'block-end', index },
    ];
    expect(parts).to.deep.equal([
      { type: 'start', id: 'r', model: 'm' },
      ...block(0, { type: 'reasoning' }, 'hm'),
      ...block(1, { type: 'text' }, 'So'),
      ...block(2, { type: 'tool', id: 'a', name: 'a' }, json),
      ...block(3, { type: 'tool', id: 'b', name: 'b' }, json),
      { type: 'finish', reason: 'stop', raw: 'STOP' },
    ]);
  });

  it('are the first candidate, wherever it stands', () => {
    const other = { index: 1, content: { parts: [{ text: 'other' }] }, finishReason: 'MAX_TOKENS' };
    const first = { index: 0, content: { parts: [{ text: 'Hi' }] } };
    const parts = read(
      { candidates: [other, first] },
      { candidates: [other] },
      { candidates: [{ finishReason: 'STOP' }] },
    );
    expect(parts.filter(({ type }) => type === 'block-delta' || type === 'finish')).to.deep.equal([
      { type: 'block-delta', index: 0, text: 'Hi' },
      { type: 'finish', reason: 'stop', raw: 'STOP' },
    ]);
  });

  it('drop another answer behind their end, but not its counts', () => {
    const first = { responseId: 'a', ...candidate([{ text: 'Hi' }], { finishReason: 'STOP' }) };
    const image = { inlineData: { mimeType: 'image/png', data: 'QQ==' } };
    for (const part of [{ text: 'Other' }, { functionCall: { name: 'look' } }, image]) {
      const counts = { responseId: 'b', usageMetadata: { promptTokenCount: 5 } };
      const parts = read(first, counts, { responseId: 'b', ...candidate([part]) });
      expect(parts.filter(({ type }) => type === 'block-start' || type === 'image')).to.have.length(1);
      expect(parts.filter(({ type }) => type === 'usage')).to.deep.equal([{ type: 'usage', input: 5 }]);
    }
  });

  it('take zeros for no counts', () => {
    const none = { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 };
    const counts = { promptTokenCount: 5, candidatesTokenCount: 8, thoughtsTokenCount: 2, totalTokenCount: 15 };
    const parts = read({ usageMetadata: none }, { usageMetadata: counts }, { usageMetadata: none });
    expect(parts).to.deep.equal([{ type: 'usage', input: 5, output: 10, reasoning: 2 }]);
  });

  it('are filtered by a block of the prompt that comes behind their first words', () => {
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } };
    const parts = read(candidate([{ text: 'Hi' }]), blocked);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'filter', raw: 'PROHIBITED_CONTENT' });
    expect(() => read(candidate([{ text: '' }]), blocked)).to.throw('prompt blocked');
  });

  it('keep signatures wherever they stand', () => {
    const signed = (part: object) => ({ ...part, thoughtSignature: 's' });
    const shapeOf = (parts: readonly ProviderPart[]) =>
      parts.flatMap((part) => {
        if (part.type === 'block-start') return [part.block.type];
        if (part.type === 'block-delta') return [part.text];
        return part.type === 'block-state' ? [`${part.state.format} ${part.state.value}`] : [];
      });
    const thought = { text: 'hm', thought: true };
    for (const [said, shape] of [
      [
        [signed(thought), { text: 'So' }],
        ['reasoning', 'hm', 'contents s', 'text', 'So'],
      ],
      [
        [thought, signed({ text: 'So' })],
        ['reasoning', 'hm', 'text', 'So', 'reasoning', 'contents s'],
      ],
      [
        [{ text: 'So' }, signed({ text: '' })],
        ['text', 'So', 'reasoning', 'contents s'],
      ],
      [
        [{ text: 'So' }, signed({})],
        ['text', 'So', 'reasoning', 'contents s'],
      ],
      [[signed({ functionCall: { name: 'a', args: {} } })], ['tool', 'contents s', '{}']],
    ] as const)
      expect(shapeOf(read(candidate(said, { finishReason: 'STOP' })))).to.deep.equal(shape);
  });

  it('keep every digit of the arguments of a call', () => {
    const chunk = parseExactJson(
      '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":{"id":2512292042121000001}}}]}}]}',
    ) as JsonObject;
    const parts = read(chunk);
    expect(parts.find(({ type }) => type === 'block-delta')).to.include({ text: '{"id":2512292042121000001}' });
  });

  it('are refused by an error, and by a reason to block the prompt', () => {
    expect(() => read({ error: { code: 429, message: 'slow down' } }))
      .to.throw('slow down')
      .with.property('kind', 'rate');
    expect(() => read(candidate([{ text: 'Hi' }]), { code: 429, message: 'slow down' }))
      .to.throw('slow down')
      .with.property('kind', 'rate');
    expect(() => readImages({ error: { code: 429, message: 'slow down' } }, kit))
      .to.throw('slow down')
      .with.property('kind', 'rate');
    const blocked = { promptFeedback: { blockReason: 'SAFETY' } };
    for (const refused of [() => read(blocked), () => readImages(blocked, kit)]) {
      expect(refused).to.throw('prompt blocked: SAFETY').that.includes({ kind: 'request', about: 'content' });
    }
    expect(read({ promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } })).to.deep.equal([]);
  });

  it('have images without drafts, and a refusal only where there are none', () => {
    const image = (text: string, more: object = {}) => ({ inlineData: { data: btoa(text) }, ...more });
    const drawn = (parts: unknown, more: object = {}) =>
      readImages(candidate(parts, more), kit).map((source) => 'bytes' in source && `${source.bytes}`);
    const parts = [image('draft', { thought: true }), image('one'), { text: 'x' }, { inlineData: {} }, image('two')];
    expect(drawn(parts)).to.deep.equal(['one', 'two']);
    expect(drawn([{ inline_data: { mime_type: 'image/png', data: btoa('one') } }])).to.deep.equal(['one']);
    expect(drawn(parts, { finishReason: 'SAFETY' })).to.deep.equal(['one', 'two']);
    expect(drawn(parts, { finishReason: 'MALFORMED_FUNCTION_CALL' })).to.deep.equal(['one', 'two']);
    expect(drawn([], { finishReason: 'STOP' })).to.deep.equal([]);
    for (const [finishMessage, says] of [
      ['not this', 'SAFETY: not this'],
      [undefined, 'SAFETY: '],
    ] as const) {
      expect(() => drawn([image('draft', { thought: true })], { finishReason: 'SAFETY', finishMessage }))
        .to.throw()
        .that.includes({ kind: 'request', about: 'content', detail: says.trim() });
    }
  });
});
