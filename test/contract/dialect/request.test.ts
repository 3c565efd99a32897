// The same request in every dialect is the same call: system prompts, history, lenient blocks, limits, refusals.
import { expect } from 'chai';
import fc from 'fast-check';
import { chatFields } from '../../../lib/api/dialects/chat/schema.ts';
import type { BodySchema } from '../../../lib/api/dialects/fields.ts';
import { messageFields } from '../../../lib/api/dialects/message/schema.ts';
import { responsesFields } from '../../../lib/api/dialects/responses/schema.ts';
import { isFault } from '../../../lib/base/faults.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';
import type { RequestImage } from '../../../lib/media/reference.ts';
import { ANY_CHARACTER } from '../../../testkit/code-points.ts';
import { longer } from '../../../testkit/long.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { PNG } from '../../media/sample-images.ts';
import { type Asked, SUBJECTS } from './subject.ts';

const BASE64 = PNG.toString('base64');

const text = (words: string) => ({ type: 'text' as const, text: words });
const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const said = (role: 'user' | 'assistant', ...texts: string[]) => ({ role, content: texts.map(text) });

const plain: TextRequest = {
  model: 'model-a',
  system: undefined,
  messages: [said('user', 'hi')],
  messageCount: 1,
  images: 0,
  maxTokens: 8192,
  stream: false,
};

const BODY_FIELDS: Readonly<Record<string, BodySchema>> = {
  message: messageFields,
  chat: chatFields,
  responses: responsesFields,
};

type Row = readonly [name: string, asked: Asked, expected: Partial<TextRequest>];

/** `messageCount` is what the wire had, so a system prompt as a message counts in one dialect only: rows leave it out. */
const rows: readonly Row[] = [
  ['a prompt', { messages: [user('hi')] }, {}],
  ['a system prompt', { system: 'be kind', messages: [user('hi')] }, { system: [text('be kind')] }],
  [
    'a system prompt in blocks',
    { system: [{ ...text('be kind'), cache_control: {} }, text('be brief')], messages: [user('hi')] },
    { system: [text('be kind'), text('be brief')] },
  ],
  [
    'system and developer messages before others',
    {
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: [text('b')] },
        user('one'),
        user('hi'),
      ],
    },
    { system: [text('a'), text('b')], messages: [said('user', 'one'), said('user', 'hi')] },
  ],
  ['an empty system prompt', { system: '', messages: [user('hi')] }, {}],
  [
    'history',
    { messages: [user('one'), assistant([text('two'), text('three')]), user([text('hi')])] },
    { messages: [said('user', 'one'), said('assistant', 'two', 'three'), said('user', 'hi')] },
  ],
  [
    'an assistant message last',
    { messages: [user('hi'), assistant('I think')] },
    { messages: [said('user', 'hi'), said('assistant', 'I think')] },
  ],
  [
    'an assistant message of null',
    { messages: [user('one'), assistant(null), user('hi')] },
    {
      messages: [said('user', 'one'), said('user', 'hi')],
    },
  ],
  [
    'an assistant message without content',
    { messages: [user('one'), { role: 'assistant' }, user('hi')] },
    {
      messages: [said('user', 'one'), said('user', 'hi')],
    },
  ],
  [
    'function messages, and calls that are no call of the assistant',
    {
      messages: [
        user([text('one'), { type: 'tool_use', id: 't', name: 'look', input: {} }]),
        { role: 'function', content: [text('x')] },
        assistant([text('two'), { type: 'tool_result', tool_use_id: 't', content: 'three' }]),
        user('hi'),
      ],
    },
    { messages: [said('user', 'one'), said('user', 'x'), said('assistant', 'two', 'three'), said('user', 'hi')] },
  ],
  [
    'documents and thinking',
    {
      messages: [
        assistant([
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'redacted_thinking', data: 'x' },
        ]),
        user([
          { type: 'document', source: { type: 'content', content: [text('the chapter')] } },
          { type: 'search_result', source: 'https://x', content: [text('the page')] },
          text('hi'),
        ]),
      ],
    },
    { messages: [said('user', 'the chapter', 'https://x', 'the page', 'hi')] },
  ],
  [
    'blocks of unknown types',
    {
      messages: [user([{ type: 'who_knows', text: 'kept' }, { type: 'who_knows', data: 'x' }, text('hi')])],
    },
    { messages: [said('user', 'kept', 'hi')] },
  ],
  ['empty texts', { messages: [user(''), user([text(''), text('hi'), text('')])] }, {}],
  ['a stream', { stream: true, messages: [user('hi')] }, { stream: true }],
  ['no stream', { stream: false, messages: [user('hi')] }, {}],
  [
    'options of null',
    { stream: null, max_tokens: null, max_completion_tokens: null, temperature: null, messages: [user('hi')] },
    {},
  ],
  [
    'unknown fields, and sampling of any type',
    { temperature: 'hot', top_p: {}, top_k: [], foo: { bar: [null] }, messages: [{ ...user('hi'), name: 5 }] },
    { sampling: { temperature: 'hot', top_p: {}, top_k: [] } },
  ],
  ['a model named like an object member', { model: '__proto__', messages: [user('hi')] }, { model: '__proto__' }],
];

const limits: readonly (readonly [object, number])[] = [
  [{ max_tokens: 1 }, 1],
  [{ max_tokens: 32_768 }, 32_768],
  [{ max_tokens: 32_769 }, 32_768],
  [{ max_tokens: 2 ** 53 + 2 }, 32_768],
  [{ max_tokens: 1e300 }, 32_768],
  [{ max_tokens: 5.0 }, 5],
  [{ max_completion_tokens: 7 }, 7],
  [{ max_completion_tokens: 99_999 }, 32_768],
  [{ max_tokens: 9, max_completion_tokens: 7 }, 9],
  [{ max_tokens: null, max_completion_tokens: 7 }, 7],
];

/** What is refused, the field that the message names first, and the words after it. */
const refusals: readonly (readonly [asked: unknown, field: string, words: RegExp])[] = [
  [{ model: undefined }, 'model', /required/],
  [{ model: null }, 'model', /string/],
  [{ model: 5 }, 'model', /string/],
  [{ model: '' }, 'model', /empty/],
  [{ messages: undefined }, 'messages', /required/],
  [{ messages: null }, 'messages', /array/],
  [{ messages: [] }, 'messages', /at least 1/],
  [{ messages: { 0: user('hi') } }, 'messages', /array/],
  [{ messages: 'hi' }, 'messages', /array/],
  [{ messages: [null] }, 'messages[0]', /object/],
  [{ messages: [user('hi'), 'hi'] }, 'messages[1]', /object/],
  [{ messages: [[user('hi')]] }, 'messages[0]', /object/],
  [{ messages: [{ content: 'hi' }] }, 'messages[0].role', /one of/],
  [{ messages: [{ role: 'bot', content: 'hi' }] }, 'messages[0].role', /one of/],
  [{ messages: [{ role: ['user'], content: 'hi' }] }, 'messages[0].role', /one of/],
  [{ messages: [{ role: 'constructor', content: 'hi' }] }, 'messages[0].role', /one of/],
  [{ messages: [{ role: 'user' }] }, 'messages[0].content', /string or an array/],
  [{ messages: [user(null)] }, 'messages[0].content', /string or an array/],
  [{ messages: [user(5)] }, 'messages[0].content', /string or an array/],
  [{ messages: [user(text('hi'))] }, 'messages[0].content', /string or an array/],
  [{ messages: [user(['hi'])] }, 'messages[0].content[0]', /object/],
  [{ messages: [user([text('a'), { text: 'hi' }])] }, 'messages[0].content[1].type', /string/],
  [{ messages: [user([{ type: 'text' }])] }, 'messages[0].content[0].text', /string/],
  [{ messages: [user([{ type: 'text', text: 5 }])] }, 'messages[0].content[0].text', /string/],
  [{ messages: [assistant('hi')] }, 'messages', /role user/],
  [{ messages: [{ role: 'system', content: 'hi' }] }, 'messages', /role user/],
  [{ messages: [{ role: 'function', content: 'hi' }] }, 'messages', /role user/],
  [{ messages: [user('hi'), user('')] }, 'messages[1].content', /must contain text/],
  [{ messages: [user([])] }, 'messages[0].content', /must contain text/],
  [{ messages: [user([{ type: 'who_knows' }])] }, 'messages[0].content', /must contain text/],
  [{ messages: [user([{ type: 'input_audio' }])] }, 'messages[0].content[0].input_audio', /object/],
  [{ messages: [user([{ type: 'video_url' }])] }, 'messages[0].content[0].type', /no model/],
  [{ messages: [user(' \n')] }, 'messages[0].content', /must contain text/],
  [{ max_tokens: 0 }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: -1 }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: 1.5 }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: '100' }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: true }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: [100] }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: JSON.parse('1e400') }, 'max_tokens', /whole number above zero/],
  [{ max_tokens: JSON.parse('-1e400') }, 'max_tokens', /whole number above zero/],
  [{ max_completion_tokens: 0 }, 'max_completion_tokens', /whole number above zero/],
  [{ max_tokens: 5, max_completion_tokens: 'x' }, 'max_completion_tokens', /whole number above zero/],
  [{ stream: 'true' }, 'stream', /boolean/],
  [{ stream: 1 }, 'stream', /boolean/],
];

/** A single text is a whole input, and no role is a function there. */
function isOnlyRefusedElsewhere(fields: unknown): boolean {
  const { messages } = fields as { messages?: unknown };
  return messages === 'hi' || JSON.stringify(messages ?? '').includes('"function"');
}

describe('the contract of dialects: requests', () => {
  for (const [name, asked, expected] of rows) {
    it(`reads ${name} in each dialect alike`, () => {
      for (const { name: dialectName, dialect, body } of SUBJECTS) {
        if (dialectName === 'responses' && JSON.stringify(asked).includes('"function"')) continue;
        const wire = body(asked);
        const { messages, input = messages } = wire as { messages: unknown[]; input?: unknown[] };
        // Whether reasoning is delivered without being asked for is what the dialects differ in.
        const { showsReasoning, echo: _, ...parsed } = dialect.parse(wire);
        expect(showsReasoning === true).to.equal(dialectName !== 'message');
        expect(parsed).to.deep.equal({ ...plain, ...expected, messageCount: input.length });
      }
    });
  }

  for (const [fields, maxTokens] of limits) {
    it(`takes ${Object.entries(fields).join(' and ').replaceAll(',', ' ')} as ${maxTokens}`, () => {
      for (const { dialect, body, fieldAt } of SUBJECTS) {
        if (Object.keys(fields).some((name) => fieldAt(name) === undefined)) continue;
        expect(dialect.parse(body({ messages: [user('hi')], ...fields })).maxTokens).to.equal(maxTokens);
      }
    });
  }

  /** The message of the 400 that a body gets. */
  function refusalOf(parse: () => unknown): string {
    try {
      parse();
    } catch (error) {
      if (!isFault(error)) throw error;
      expect(error.output.statusCode).to.equal(400);
      expect(error.data).to.include({ type: 'invalid_request_error', chatCode: 'invalid_request', retryable: false });
      return error.message;
    }
    throw new Error('it was not refused');
  }

  for (const [fields, field, words] of refusals) {
    it(`refuses ${JSON.stringify(fields)?.slice(0, 70)} and names ${field}`, () => {
      for (const { name, dialect, body, fieldAt } of SUBJECTS) {
        const own = fieldAt(field);
        if (own === undefined || (name === 'responses' && isOnlyRefusedElsewhere(fields))) continue;
        const message = refusalOf(() => dialect.parse(body({ messages: [user('hi')], ...(fields as object) })));
        expect(message.startsWith(`Invalid \`${own}\`: `), message).to.equal(true);
        expect(message).to.match(words);
      }
    });
  }

  it('takes null for any optional field as its absence', () => {
    for (const { name, dialect, body } of SUBJECTS) {
      const asked = body({ messages: [user('hi')] });
      const fields = BODY_FIELDS[name]?.fields.filter(({ required }) => !required) ?? [];
      expect(fields, name).not.to.be.empty;
      const nulls = Object.fromEntries(fields.map((field) => [field.name, null]));
      for (const { name: field } of fields) {
        expect(dialect.parse({ ...asked, [field]: null }), field).to.deep.equal(dialect.parse(asked));
      }
      expect(dialect.parse({ ...nulls, ...asked }), name).to.deep.equal(dialect.parse(asked));
    }
  });

  it('refuses what is no object', () => {
    for (const { dialect } of SUBJECTS) {
      for (const body of [null, 5, 'hi', true, [], [user('hi')]]) {
        expect(refusalOf(() => dialect.parse(body))).to.contain('an object is expected');
      }
    }
  });

  /** Every dialect with the images of each. */
  const PAIRS = SUBJECTS.flatMap(({ dialect, body }) => SUBJECTS.map(({ image }) => ({ dialect, body, image })));

  const sourceOf = ({ source }: RequestImage) => (typeof source === 'string' ? source : source.mediaType);

  it('takes images by https and in base64, up to four in a message, in the shape of any dialect', () => {
    for (const { dialect, body, image } of PAIRS) {
      const four = [
        image({ url: 'https://x.example/a.png' }),
        ...Array.from({ length: 3 }, () => image({ data: BASE64 })),
      ];
      const parsed = dialect.parse(body({ messages: [user([...four, text('what?')]), user(four)] }));
      expect(parsed).to.deep.include({ ...plain, messages: parsed.messages, messageCount: 2, images: 8 });
      const shown = parsed.messages.map(({ content }) =>
        content.map((part) => (part.type === 'text' ? part.text : sourceOf(part as RequestImage))),
      );
      const images = ['https://x.example/a.png', ...Array(3).fill('image/png')];
      expect(shown).to.deep.equal([[...images, 'what?'], images]);
      const five = body({ messages: [user('hi'), user([...four, image({ data: BASE64 })])] });
      expect(refusalOf(() => dialect.parse(five))).to.match(
        /^Invalid `(?:messages|input)\[1\]\.content`: .*at most 4 images/,
      );
    }
  });

  itTimed('looks at no more images than a message may have, and at no long host', () => {
    for (const { dialect, body, image } of SUBJECTS) {
      const content = Array.from({ length: 60 }, (_, at) =>
        image({ url: `https://${'я'.repeat(16_000)}${at}.example/` }),
      );
      const startedAt = performance.now();
      expect(refusalOf(() => dialect.parse(body({ messages: [user(content)] })))).to.contain(
        'at most 2,048 characters',
      );
      const many = Array.from({ length: 5000 }, (_, at) => image({ url: `https://x${at}.example/` }));
      expect(refusalOf(() => dialect.parse(body({ messages: [user(many)] })))).to.contain('at most 4 images');
      // It took seconds.
      expect(performance.now() - startedAt).to.be.below(100);
    }
  });

  it('refuses images by any other scheme', () => {
    const urls = ['ftp://x/a', 'file:///etc/passwd', 'x', '', 'data:text/html,x'];
    for (const { dialect, body, image } of PAIRS) {
      for (const url of urls) {
        const message = refusalOf(() => dialect.parse(body({ messages: [user([text('hi'), image({ url })])] })));
        expect(message).to.match(
          /^Invalid `(?:messages|input)\[0\]\.content\[1\]\.[a-z_.]*url`: .*(https URL|data URI)/,
        );
      }
    }
  });

  it('counts images of all shapes together', () => {
    const shapes = SUBJECTS.map(({ image }) => image({ data: BASE64 }));
    for (const { dialect, body } of SUBJECTS) {
      expect(dialect.parse(body({ messages: [user(shapes)] })).images).to.equal(shapes.length);
      const six = body({ messages: [user([...shapes, ...shapes, ...shapes])] });
      expect(refusalOf(() => dialect.parse(six))).to.contain('at most 4 images');
    }
  });

  it('reads any conversation alike, and keeps every text', () => {
    const words = fc.string({ unit: ANY_CHARACTER, maxLength: 12 });
    const content = fc.oneof(words, fc.array(words.map(text), { maxLength: 3 }));
    const message = fc.record({
      role: fc.constantFrom('user', 'assistant', 'system', 'developer'),
      content,
    });
    const conversation = fc.record({
      messages: fc.array(message, { maxLength: 6 }),
      last: fc.string({ minLength: 1 }).filter((said) => said.trim() !== ''),
    });
    fc.assert(
      fc.property(conversation, ({ messages, last }) => {
        const asked = { messages: [...messages, { role: 'user', content: last }] };
        const [first, ...others] = SUBJECTS.map(({ dialect, body }) => {
          const { showsReasoning: _, echo: __, hasSystemAnywhere: ___, ...parsed } = dialect.parse(body(asked));
          return parsed;
        });
        for (const other of others) expect(other).to.deep.equal(first);
        const textsOf = (wanted: boolean) =>
          asked.messages
            .filter(({ role }) => (role === 'system' || role === 'developer') === wanted)
            .flatMap((item) => (typeof item.content === 'string' ? [text(item.content)] : item.content))
            .flatMap((block) => (block.text.trim() === '' ? [] : [block.text]));
        const read = [{ role: 'system', content: first?.system ?? [] }, ...(first?.messages ?? [])];
        for (const isSystem of [false, true]) {
          const texts = read
            .filter(({ role }) => (role === 'system') === isSystem)
            .flatMap(({ content }) => content.map((block) => block.type === 'text' && block.text));
          expect(texts).to.deep.equal(textsOf(isSystem));
        }
      }),
      { numRuns: longer(60, 300) },
    );
  });
});
