// Images of answers from each upstream's format, and back in a history to each.
import { expect } from 'chai';
import { Guard } from '../../../lib/stream/guard.ts';
import type { ProviderPart, StreamPart } from '../../../lib/stream/part.ts';
import type { AnswerReader, Content, JsonObject, TextCall } from '../../../lib/upstream/contract/provider.ts';
import { ChatReply } from '../../../lib/upstream/formats/chat/reply.ts';
import { chatBody } from '../../../lib/upstream/formats/chat/request.ts';
import { ContentsReply } from '../../../lib/upstream/formats/contents/reply.ts';
import { contentsBody } from '../../../lib/upstream/formats/contents/request.ts';
import { MessageReply } from '../../../lib/upstream/formats/message/reply.ts';
import { ResponsesReply } from '../../../lib/upstream/formats/responses/reply.ts';
import { createFinishReason } from '../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../lib/upstream/host/writer.ts';
import { GIF, PNG } from '../../media/sample-images.ts';

const [DRAWN, OTHER, DRAFT] = [PNG, GIF, Buffer.from('a draft')].map((bytes) => bytes.toString('base64')) as [
  string,
  string,
  string,
];
const URL_OF = { [DRAWN]: `data:image/png;base64,${DRAWN}`, [OTHER]: `data:image/gif;base64,${OTHER}` };

const fault = createHostFault({ secrets: [] });
const kit = { fault, finishReason: createFinishReason(fault) };

/** The texts and images that a client gets, in order. */
function read(reader: AnswerReader, events: readonly object[], { marked = true } = {}): readonly string[] {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  for (const event of events) if (!out.isDone) reader.take(event as JsonObject, out, () => '');
  reader.end?.(out, marked);
  if (marked) out.done('[DONE]');
  out.close();
  const guard = new Guard({ outputMax: Number.POSITIVE_INFINITY, showsReasoning: true });
  const passed: readonly StreamPart[] = [...guard.push(parts), ...guard.end()];
  return passed.flatMap((part) => {
    if (part.type === 'error') return [`error ${part.fault.data?.code}`];
    if (part.type === 'image') return [`${part.mediaType} ${part.base64}`];
    if (part.type === 'block-state') return [`state ${part.state.value}`];
    return part.type === 'block-delta' ? [part.text] : [];
  });
}

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'gen-1',
  model: 'google/gemini-2.5-flash-image',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const imageUrl = (base64: string, index?: number) => ({
  type: 'image_url',
  image_url: { url: URL_OF[base64] },
  ...(index !== undefined && { index }),
});

describe('images in the chat format', () => {
  const chat = (events: readonly object[], options?: object) => read(new ChatReply(kit, {}), events, options);

  it('come in a delta of their own, beside the text', () => {
    const events = [
      chunk({ role: 'assistant', content: 'Here ' }),
      chunk({ role: 'assistant', content: 'it is.' }),
      chunk({ role: 'assistant', content: '', images: [imageUrl(DRAWN, 0), imageUrl(OTHER, 1)] }),
      chunk({ role: 'assistant', content: '' }, 'stop'),
    ];
    expect(chat(events)).to.deep.equal(['Here ', 'it is.', `image/png ${DRAWN}`, `image/gif ${OTHER}`]);
  });

  it('come in a whole message', () => {
    const message = { role: 'assistant', content: 'Here.', images: [{ ...imageUrl(DRAWN, 0), detail: 'auto' }] };
    const whole = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    expect(chat([whole])).to.deep.equal(['Here.', `image/png ${DRAWN}`]);
  });

  it('are not delivered twice where a server repeats them', () => {
    const message = { role: 'assistant', content: null, images: [imageUrl(DRAWN)] };
    const delta = { content: null, images: [imageUrl(DRAWN)] };
    const events = [chunk(delta), chunk(delta), { choices: [{ index: 0, message, finish_reason: 'stop' }] }];
    expect(chat(events)).to.deep.equal([`image/png ${DRAWN}`]);
  });

  it('come in a last message behind the deltas of its text', () => {
    const message = { role: 'assistant', content: 'Here.', images: [imageUrl(DRAWN)] };
    const events = [chunk({ content: 'Here.' }), { choices: [{ index: 0, message, finish_reason: 'stop' }] }];
    expect(chat(events)).to.deep.equal(['Here.', `image/png ${DRAWN}`]);
  });

  it('are read in the other shapes that servers have', () => {
    const shapes = [
      { image: { url: URL_OF[DRAWN], detail: 'auto' } },
      { images: [URL_OF[DRAWN]] },
      { images: [{ type: 'image_url', image_url: URL_OF[DRAWN] }] },
      { images: [{ b64_json: DRAWN }] },
      { images: [{ type: 'image', data: DRAWN, mime_type: 'image/png' }] },
      { images: [DRAWN] },
      { content: [{ type: 'image_url', image_url: { url: URL_OF[DRAWN] } }] },
      { multi_mod_content: [{ text: '' }, { inline_data: { data: DRAWN, mime_type: 'image/png' } }] },
      {
        content: '',
        multi_mod_content: [{ inlineData: { data: DRAWN, mimeType: 'image/png' } }, { inlineData: null }],
      },
    ];
    for (const delta of shapes) {
      expect(chat([chunk(delta), chunk({}, 'stop')]), JSON.stringify(delta)).to.deep.equal([`image/png ${DRAWN}`]);
    }
    const mixed = { content: 'See: ', multi_mod_content: [{ inline_data: { data: DRAWN } }] };
    for (const answer of [chunk(mixed), { choices: [{ index: 0, message: mixed }] }])
      expect(chat([answer, chunk({}, 'stop')])).to.deep.equal(['See: ', `image/png ${DRAWN}`]);
    const parts = [{ type: 'text', text: 'See: ' }, imageUrl(DRAWN)];
    expect(chat([chunk({ content: parts }), chunk({}, 'stop')])).to.deep.equal(['See: ', `image/png ${DRAWN}`]);
  });

  it('come as a link in words where a server has only that', () => {
    for (const url of ['https://cdn.example/1.png', 'HTTP://cdn.example/1.png']) {
      const images = [{ type: 'image_url', image_url: { url } }];
      expect(chat([chunk({ images }), chunk({}, 'stop')]).join('')).to.equal(`\n\n![image](${url})\n\n`);
    }
  });

  it('are left out where their place is empty, which is a sign of life', () => {
    const shapes = [
      { images: [{ type: 'image_url', image_url: { url: '' } }] },
      { images: [{ type: 'image_url' }, null] },
      { image: {} },
      { content: [{ type: 'image_url', image_url: { url: '' } }] },
    ];
    for (const delta of shapes) {
      expect(chat([chunk({ content: 'Here.' }), chunk(delta), chunk({}, 'stop')])).to.deep.equal(['Here.']);
      const parts: ProviderPart[] = [];
      const out = new Writer();
      out.into(parts);
      new ChatReply(kit, {}).take(chunk(delta), out);
      expect(parts.map(({ type }) => type)).to.include('alive');
    }
  });

  it('are not looked for in parts of other types', () => {
    const sound = { type: 'audio', data: 'AAAA' };
    const events = [chunk({ content: [{ type: 'text', text: 'See: ' }, sound, imageUrl(DRAWN)] }), chunk({}, 'stop')];
    expect(chat(events)).to.deep.equal(['See: ', `image/png ${DRAWN}`]);
  });

  it('fail the answer if they are none', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }];
    expect(chat([chunk({ content: 'Here.' }), chunk({ images }), chunk({}, 'stop')]).at(-1)).to.equal(
      'error upstream_image',
    );
  });

  it('are an answer that may end with its count', () => {
    const events = [
      chunk({ images: [imageUrl(DRAWN)] }),
      { choices: [], usage: { total_tokens: 9, prompt_tokens: 2 } },
    ];
    expect(chat(events, { marked: false })).to.deep.equal([`image/png ${DRAWN}`]);
  });
});

const contents = (parts: readonly object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
});
const inline = (base64: string, more: object = {}) => ({
  inlineData: { mimeType: 'image/png', data: base64 },
  ...more,
});

describe('images in the contents format', () => {
  it('come as parts among texts, without drafts, with the signature behind them', () => {
    const events = [
      contents([{ text: 'Thinking', thought: true }, inline(DRAFT, { thought: true })]),
      contents([{ text: 'Here: ' }]),
      contents([inline(DRAWN, { thoughtSignature: 'sig' }), { text: 'Enjoy.' }], { finishReason: 'STOP' }),
    ];
    expect(read(new ContentsReply(kit), events, { marked: false })).to.deep.equal([
      ...['Thinking', 'Here: ', `image/png ${DRAWN}`, 'state sig', 'Enjoy.'],
    ]);
  });

  it('leave sounds as they were', () => {
    const sound = { inlineData: { mimeType: 'audio/L16;rate=24000', data: 'AAAA' } };
    const events = [contents([{ text: 'Listen.' }, sound], { finishReason: 'STOP' })];
    expect(read(new ContentsReply(kit), events, { marked: false })).to.deep.equal(['Listen.']);
  });
});

const event = (type: string, fields: object) => ({ type: `response.${type}`, ...fields });
const item = (more: object) => ({ id: 'ig_1', type: 'image_generation_call', ...more });
const DONE = item({ status: 'completed', result: DRAWN, output_format: 'png' });

describe('images in the responses format', () => {
  const responses = (events: readonly object[]) => read(new ResponsesReply(kit), events);

  it('come once, whole, without what was shown of them before', () => {
    const place = { item_id: 'ig_1', output_index: 0 };
    const partial = { ...place, partial_image_b64: DRAFT, partial_image_index: 0 };
    const events = [
      event('created', { response: { id: 'r' } }),
      event('output_item.added', { output_index: 0, item: item({ status: 'in_progress', result: null }) }),
      event('image_generation_call.in_progress', place),
      event('image_generation_call.partial_image', partial),
      event('image_generation_call.completed', place),
      event('output_item.done', { output_index: 0, item: DONE }),
      event('completed', { response: { id: 'r', status: 'completed', output: [DONE] } }),
    ];
    expect(responses(events)).to.deep.equal([`image/png ${DRAWN}`]);
    // Where nothing but the last event has it.
    expect(responses(events.filter(({ type }) => !type.includes('item')))).to.deep.equal([`image/png ${DRAWN}`]);
  });

  it('come in a whole response, several among messages', () => {
    const message = { type: 'message', id: 'm', content: [{ type: 'output_text', text: 'Two.' }] };
    const failed = { ...item({ id: 'ig_3', status: 'failed' }), result: '' };
    const output = [DONE, message, { ...DONE, id: 'ig_2', result: OTHER }, failed];
    expect(responses([{ object: 'response', id: 'r', status: 'completed', output }])).to.deep.equal([
      ...[`image/png ${DRAWN}`, 'Two.', `image/gif ${OTHER}`],
    ]);
  });
});

it('images in the messages format come as blocks, and are left out without their bytes', () => {
  const source = { type: 'base64', media_type: 'image/png', data: DRAWN };
  const link = { type: 'url', url: 'https://cdn.example/1.png' };
  const events = [
    { type: 'message_start', message: { id: 'm' } },
    { type: 'content_block_start', index: 0, content_block: { type: 'image', source: link } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 0, content_block: { type: 'image', source } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ];
  expect(read(new MessageReply(kit, {}), events)).to.deep.equal([`image/png ${DRAWN}`]);
});

describe('images of earlier answers', () => {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const image: Content = { type: 'image', mediaType: 'image/png', bytes: PNG };
  const said = (text: string): Content => ({ type: 'text', text });
  const signature = (value: string): Content => ({
    ...{ type: 'reasoning', text: '' },
    state: { format: 'contents', value },
  });
  const call = (...content: readonly Content[]) => {
    const messages = [
      { role: 'user', content: [said('Draw')] },
      { role: 'assistant', content },
    ];
    return { model: 'm', messages, maxTokens: 9, options: {} } as unknown as TextCall;
  };

  it('are parts of the model’s turn in contents, with their signatures', () => {
    const parts = (noSignature: string | undefined, ...content: readonly Content[]) => {
      const { contents: turns } = contentsBody(call(...content), base64, { noSignature });
      return (turns as { parts: unknown[] }[])[1]?.parts;
    };
    const drawn = inline(DRAWN);
    expect(parts(undefined, said('Here'), image)).to.deep.equal([{ text: 'Here' }, drawn]);
    const [first, second] = [signature('a'), signature('b')];
    const signed = [
      { text: 'Here', thoughtSignature: 'a' },
      { ...drawn, thoughtSignature: 'b' },
    ];
    expect(parts('none', said('Here'), first, image, second)).to.deep.equal(signed);
    // A chat has its thoughts before all that was said.
    expect(parts('none', first, second, said('Here'), image)).to.deep.equal(signed);
    expect(parts('none', first, said('Here'), image)).to.deep.equal([
      { text: 'Here', thoughtSignature: 'none' },
      { ...drawn, thoughtSignature: 'a' },
    ]);
    expect(parts('none', image)).to.deep.equal([{ ...drawn, thoughtSignature: 'none' }]);
    // Without images, as before.
    expect(parts('none', said('Here'), first)).to.deep.equal([{ text: 'Here' }, { text: '', thoughtSignature: 'a' }]);
  });

  it('are beside the text in a chat', () => {
    const images = [{ type: 'image_url', image_url: { url: URL_OF[DRAWN] } }];
    const written = (...content: readonly Content[]) =>
      (chatBody(call(...content), base64).messages as readonly object[])[1];
    expect(written(said('Here'), image)).to.deep.equal({ role: 'assistant', content: 'Here', images });
    expect(written(image)).to.deep.equal({ role: 'assistant', content: '', images });
    const calling = written(image, { type: 'tool-call', id: 'c', name: 'f', json: '{}' });
    expect(calling).to.deep.include({ content: null, images });
  });
});
