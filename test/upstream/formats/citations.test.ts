// Citations from each upstream's format to each client's: the same in their own, addresses in the others.
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { chatReply, createChatRenderer } from '../../../lib/api/dialects/chat/render.ts';
import { createMessageRenderer, messageReply } from '../../../lib/api/dialects/message/render.ts';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import { createResponsesRenderer, responsesReply } from '../../../lib/api/dialects/responses/render.ts';
import { parseResponsesRequest } from '../../../lib/api/dialects/responses/request.ts';
import { createCollector } from '../../../lib/stream/collect.ts';
import { Guard } from '../../../lib/stream/guard.ts';
import type { StreamPart } from '../../../lib/stream/part.ts';
import type { AnswerReader, JsonObject, ProviderPart, TextCall } from '../../../lib/upstream/contract/provider.ts';
import { ChatReply } from '../../../lib/upstream/formats/chat/reply.ts';
import { ContentsReply } from '../../../lib/upstream/formats/contents/reply.ts';
import { MessageReply } from '../../../lib/upstream/formats/message/reply.ts';
import { messageBody } from '../../../lib/upstream/formats/message/request.ts';
import { ResponsesReply } from '../../../lib/upstream/formats/responses/reply.ts';
import { createFinishReason } from '../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../lib/upstream/host/writer.ts';
import { BILLING } from '../../api/dialects/replies.ts';

const fault = createHostFault({ secrets: [] });
const kit = { fault, finishReason: createFinishReason(fault) };

function readParts(reader: AnswerReader, events: readonly JsonObject[]): readonly StreamPart[] {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  for (const event of events) if (!out.isDone) reader.take(event, out, () => '');
  const guard = new Guard();
  const passed = [...guard.push(parts), ...guard.end()].filter(({ type }) => type !== 'start');
  return [{ type: 'start', id: '1', model: 'm' }, ...passed, BILLING];
}

type Json = JsonObject & { readonly [name: string]: never };

const { echo } = parseResponsesRequest({ model: 'm', input: 'Hi' }) as { echo: object };
const CALL = { id: '1', echo } as Parameters<typeof createResponsesRenderer>[0];

const eventsIn = (text: string): Json[] =>
  [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Json);

/** What clients of a dialect find, in a stream and in a whole reply, which must be the same. */
function messageCitations(parts: readonly StreamPart[]): unknown {
  const blocks: { text: string; citations?: unknown[] }[] = [];
  for (const event of eventsIn(createMessageRenderer().push(parts).join(''))) {
    if (event.type === 'content_block_start') blocks.push({ text: '' });
    const block = blocks.at(-1);
    const { text = '', citation } = (event.delta ?? {}) as { text?: string; citation?: unknown };
    if (block) block.text += text;
    if (block && citation) block.citations = [...(block.citations ?? []), citation];
  }
  const { content } = messageReply(collect(parts), { vision: false }) as { content: object[] };
  const whole = content.map(({ type: _, ...block }: { type?: unknown }) => block);
  expect(blocks, 'a stream and a whole reply').to.deep.equal(whole);
  return blocks.map(({ text, citations = [] }) => [text, ...citations]);
}

function chatAnnotations(parts: readonly StreamPart[]): unknown {
  const events = eventsIn(createChatRenderer().push(parts).join('')) as never as {
    choices: [{ delta: { annotations?: unknown[] } }];
  }[];
  const streamed = events.flatMap(({ choices: [{ delta }] }) => delta.annotations ?? []);
  const { choices } = chatReply(collect(parts)) as { choices: [{ message: { annotations?: unknown } }] };
  expect(choices[0].message.annotations ?? [], 'a stream and a whole reply').to.deep.equal(streamed);
  return streamed;
}

function responsesAnnotations(parts: readonly StreamPart[]): unknown {
  const events = eventsIn(createResponsesRenderer(CALL).push(parts).join('')) as never as {
    type: string;
    output_index: number;
    annotation: object;
    response: { output: { content: { annotations: object[] }[] }[] };
  }[];
  const added = events.filter(({ type }) => type === 'response.output_text.annotation.added');
  const { output } = responsesReply(collect(parts), CALL) as (typeof events)[number]['response'];
  const listed = output.map(({ content }) => content[0]?.annotations ?? []);
  const streamed = output.map((_, at) =>
    added.filter(({ output_index: index }) => index === at).map(({ annotation }) => annotation),
  );
  expect(streamed, 'events and items').to.deep.equal(listed);
  expect(events.at(-1)?.response.output.map(({ content }) => content[0]?.annotations)).to.deep.equal(listed);
  return listed;
}

function collect(parts: readonly StreamPart[]) {
  const collector = createCollector();
  collector.write(parts);
  return collector.reply();
}

const CHAR = {
  type: 'char_location',
  cited_text: 'The grass is green.',
  document_index: 0,
  document_title: 'Notes',
  start_char_index: 0,
  end_char_index: 19,
  file_id: null,
};
const PAGE = {
  ...{ type: 'web_search_result_location', url: 'https://example.com/sky', title: 'Sky' },
  ...{ cited_text: 'blue', encrypted_index: 'Eo8B' },
};

const block = (index: number, text: string, citations?: readonly object[]): JsonObject[] => [
  {
    type: 'content_block_start',
    index,
    content_block: { type: 'text', text: '', ...(citations && { citations: [] }) },
  },
  ...(citations ?? []).map((citation) => ({
    ...{ type: 'content_block_delta', index },
    delta: { type: 'citations_delta', citation },
  })),
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index },
];
const MESSAGE_EVENTS = [
  { type: 'message_start', message: { id: 'm', model: 'm' } },
  ...block(0, 'Well, '),
  ...block(1, 'the grass is green', [CHAR]),
  ...block(2, ' and the sky is blue', [PAGE]),
  ...block(3, '.'),
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
];

describe('citations', () => {
  it('of messages keep their blocks and shapes; an address becomes one in the other formats', () => {
    const parts = readParts(new MessageReply(kit, {}), MESSAGE_EVENTS);
    expect(messageCitations(parts)).to.deep.equal([
      ['Well, '],
      ['the grass is green', CHAR],
      [' and the sky is blue', PAGE],
      ['.'],
    ]);
    const { url, title } = PAGE;
    const mapped = { url, title, content: 'blue', start_index: 24, end_index: 44 };
    expect(chatAnnotations(parts)).to.deep.equal([{ type: 'url_citation', url_citation: mapped }]);
    const inPart = { type: 'url_citation', url, title, start_index: 0, end_index: 20 };
    expect(responsesAnnotations(parts)).to.deep.equal([[], [], [inPart], []]);
    const content = [
      { type: 'text', text: 'Grass is green', citations: [CHAR] },
      { type: 'text', text: '.', citations: null },
    ];
    const whole = readParts(new MessageReply(kit, {}), [{ type: 'message', content, stop_reason: 'end_turn' }]);
    expect(messageCitations(whole)).to.deep.equal([['Grass is green', CHAR], ['.']]);
  });

  it('have no addresses but those of the web, whatever format they come in and go to', () => {
    for (const url of [
      'javascript:alert(1)',
      'JavaScript://https://a.example',
      'data:text/html,x',
      ' https://a.example',
    ]) {
      const annotation = { type: 'url_citation', url, url_citation: { url, title: 'A' }, title: 'A' };
      const message = { role: 'assistant', content: 'Hi', annotations: [annotation], citations: [url] };
      const part = { type: 'output_text', text: 'Hi', annotations: [annotation] };
      const output = [{ type: 'message', id: 'a', content: [part] }];
      const content = [
        {
          type: 'text',
          text: 'Hi',
          citations: [
            { ...PAGE, url },
            { ...PAGE, type: 'new', url },
          ],
        },
      ];
      const groundingMetadata = { groundingChunks: [{ web: { uri: url, title: 'A' } }] };
      const answers = [
        readParts(new MessageReply(kit, {}), [{ type: 'message', content, stop_reason: 'end_turn' }]),
        readParts(new ChatReply(kit, {}), [{ choices: [{ index: 0, message, finish_reason: 'stop' }] }]),
        readParts(new ResponsesReply(kit), [
          { type: 'response.completed', response: { id: 'r', status: 'completed', output } },
        ]),
        readParts(new ContentsReply(kit), [
          { candidates: [{ content: { parts: [{ text: 'Hi' }] }, groundingMetadata, finishReason: 'STOP' }] },
        ]),
      ];
      for (const parts of answers) {
        expect([chatAnnotations(parts), responsesAnnotations(parts)]).to.deep.equal([[], [[]]]);
        expect(messageCitations(parts)).to.deep.equal([['Hi']]);
      }
    }
  });

  it('of chats keep their places in the text of the answer, whole or streamed', () => {
    const annotation = {
      ...{ type: 'url_citation' },
      url_citation: { start_index: 3, end_index: 8, url: 'https://a.example', title: 'A', more: 1 },
    };
    const file = { type: 'file', file: { hash: 'h', name: 'a.pdf' } };
    const delta = (said: object, finish: string | null = null) => ({
      choices: [{ index: 0, delta: said, finish_reason: finish }],
    });
    const annotations = [annotation, file];
    const streamed = [
      delta({ content: 'So ' }),
      delta({ content: 'green' }),
      delta({ annotations }),
      delta({}, 'stop'),
    ];
    const message = { role: 'assistant', content: 'So green', annotations };
    const whole = [{ object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }];
    for (const events of [streamed, whole, [...streamed.slice(0, 2), delta({}, 'stop'), delta({ annotations })]]) {
      const parts = readParts(new ChatReply(kit, {}), events);
      expect(chatAnnotations(parts)).to.deep.equal([annotation]);
      const mapped = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 3, end_index: 8 };
      expect(responsesAnnotations(parts)).to.deep.equal([[mapped]]);
      const location = { type: 'web_search_result_location', cited_text: '', encrypted_index: '' };
      expect(messageCitations(parts)).to.deep.equal([
        ['So green', { ...location, url: 'https://a.example', title: 'A' }],
      ]);
    }
  });

  it('that a search model lists beside the answer are of all of its text, once', () => {
    const lists = {
      citations: ['https://a.example', 'https://b.example'],
      search_results: [
        { url: 'https://a.example', title: 'A', date: null },
        { url: 'https://b.example', title: 'B' },
      ],
    };
    const chunk = (content: string, finish: string | null = null) => ({
      ...lists,
      choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    });
    const parts = readParts(new ChatReply(kit, {}), [chunk(''), chunk('Green[1]'), chunk(' blue[2]', 'stop')]);
    const cited = (url: string, title: string) => ({
      type: 'url_citation',
      url_citation: { url, title, start_index: 0, end_index: 16 },
    });
    expect(chatAnnotations(parts)).to.deep.equal([cited('https://a.example', 'A'), cited('https://b.example', 'B')]);
    const bare = readParts(new ChatReply(kit, {}), [{ ...chunk('Hi', 'stop'), search_results: undefined }]);
    expect(chatAnnotations(bare)).to.have.length(2);
    const titled = { ...chunk('Hi', 'stop'), search_results: lists.search_results.slice(0, 1) };
    expect(chatAnnotations(readParts(new ChatReply(kit, {}), [titled]))).to.deep.equal([
      { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 } },
    ]);
  });

  it('of responses are told once, however often they are repeated, and keep their places when parts are joined', () => {
    const url = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 5 };
    const file = { type: 'file_citation', file_id: 'f', filename: 'a.pdf', index: 5 };
    const part = { type: 'output_text', text: 'green', annotations: [url, file] };
    const items = [
      { type: 'message', id: 'a', content: [{ type: 'output_text', text: 'So ', annotations: [] }] },
      { type: 'message', id: 'b', content: [part] },
    ];
    const at = { output_index: 1, content_index: 0 };
    const events = [
      { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'So ' },
      { type: 'response.output_text.delta', ...at, delta: 'green' },
      { type: 'response.output_text.annotation.added', ...at, annotation_index: 0, annotation: url },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 1, item: items[1] },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: items } },
    ];
    for (const given of [events, events.slice(-1)]) {
      const parts = readParts(new ResponsesReply(kit), given);
      expect(responsesAnnotations(parts)).to.deep.equal([[{ ...url, start_index: 3, end_index: 8 }, file]]);
      const { type, ...cited } = url;
      const annotation = { type, url_citation: { ...cited, start_index: 3, end_index: 8 } };
      expect(chatAnnotations(parts)).to.deep.equal([annotation]);
    }
  });

  it('of contents are the pages that the answer is grounded in, each once', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }, { retrievedContext: { uri: 'gs://b' } }],
    };
    const chunk = { candidates: [{ content: { parts: [{ text: 'Hi' }] }, groundingMetadata }] };
    const parts = readParts(new ContentsReply(kit), [
      chunk,
      { candidates: [{ groundingMetadata, finishReason: 'STOP' }] },
    ]);
    const place = { url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 };
    expect(chatAnnotations(parts)).to.deep.equal([{ type: 'url_citation', url_citation: place }]);
  });

  it('pass the guard for a text that waits, up to a thousand, and fail for anything else', () => {
    const citation = { url: 'https://a.example' };
    const guard = new Guard();
    const open = (index: number) => ({ type: 'block-start', index, block: { type: 'text', cited: true } }) as const;
    const cite = (index: number) => ({ type: 'block-citation', index, citation }) as const;
    guard.push([{ type: 'start' }, open(0), open(1), { type: 'block-delta', index: 1, text: 'B' }, cite(1)]);
    expect(guard.push([{ type: 'block-end', index: 0 }]).slice(-2)).to.deep.equal([
      { type: 'block-delta', index: 1, text: 'B' },
      cite(1),
    ]);
    const many = Array.from({ length: 1200 }, () => cite(1));
    expect(guard.push(many)).to.have.length(999);
    expect(guard.push([cite(0)]).at(-1)).to.have.property('type', 'error');
  });

  it('pass the guard up to a million characters in all, and up to 64 thousand each', () => {
    const guard = new Guard();
    const cite = (characters: number) =>
      ({
        type: 'block-citation',
        index: 0,
        citation: { url: 'https://a.example', quote: 'x'.repeat(characters) },
      }) as const;
    guard.push([{ type: 'start' }, { type: 'block-start', index: 0, block: { type: 'text' } }]);
    expect(guard.push([cite(70_000), cite(60_000)])).to.deep.equal([cite(60_000)]);
    expect(guard.push(Array.from({ length: 100 }, () => cite(60_000)))).to.have.length(16);
    expect(guard.push([cite(10)])).to.deep.equal([cite(10)]);
  });

  describe('that a client of messages sends back', () => {
    const document = (
      citations: unknown,
      source: object = { type: 'text', media_type: 'text/plain', data: 'Grass.' },
    ) => ({
      type: 'document',
      source,
      title: 'Notes',
      citations,
    });
    const history = (first: object): JsonObject => ({
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'user', content: [first, { type: 'text', text: 'Which colour?' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Green', citations: [CHAR, PAGE, 5, { type: 'new' }] }] },
        { role: 'user', content: 'Sure?' },
      ],
    });
    const bodyOf = (request: JsonObject) => {
      const { system, messages } = parseMessageRequest(request);
      const call = { model: 'm', maxTokens: 9, system, messages, options: {} } as unknown as TextCall;
      return messageBody(call, (bytes) => Buffer.from(bytes).toString('base64')) as {
        messages: { content: { citations?: unknown; source?: unknown }[] | string }[];
      };
    };

    it('go to an upstream of messages as it takes them, as long as it has their document', () => {
      const [asked, said] = bodyOf(history(document({ enabled: true }))).messages;
      expect(asked?.content[0]).to.deep.equal(document({ enabled: true }));
      const { file_id: _, ...taken } = CHAR;
      expect(said?.content).to.deep.equal([{ type: 'text', text: 'Green', citations: [taken] }]);
      expect(bodyOf(history(document({ enabled: false }))).messages[1]?.content).to.equal('Green');
      expect(bodyOf(history({ type: 'text', text: 'No document.' })).messages[1]?.content).to.equal('Green');
    });

    it('may be of a text in pieces, which are texts below its title without citations', () => {
      const source = {
        type: 'content',
        content: [
          { type: 'text', text: 'Grass.' },
          { type: 'text', text: 'Sky.' },
        ],
      };
      expect(bodyOf(history(document({ enabled: true }, source))).messages[0]?.content[0]).to.deep.equal(
        document({ enabled: true }, source),
      );
      expect(bodyOf(history(document(null, source))).messages[0]?.content.slice(0, 3)).to.deep.equal([
        { type: 'text', text: 'Notes' },
        { type: 'text', text: 'Grass.' },
        { type: 'text', text: 'Sky.' },
      ]);
      const blank = { type: 'content', content: [{ type: 'text', text: ' ' }] };
      expect(() => parseMessageRequest(history(document({ enabled: true }, blank)))).to.throw(/content\[0\]/);
      expect(() => parseMessageRequest(history(document({ enabled: 'yes' })))).to.throw();
    });
  });
});
