import { expect } from 'chai';
import { digestBeginnings } from '../../../lib/calls/text/beginnings.ts';
import type { RequestContent, RequestMessage } from '../../../lib/calls/text/request.ts';
import type { Image } from '../../../lib/media/image.ts';

const text = (said: string): RequestContent => ({ type: 'text', text: said });
const user = (...content: RequestContent[]): RequestMessage => ({ role: 'user', content });
const system = [{ type: 'text', text: 'Be brief.' }] as const;
const digests = (...messages: RequestMessage[]) => digestBeginnings('c', { system, messages });
const last = (...messages: RequestMessage[]) => digests(...messages).at(-1);

describe('beginnings of a prompt', () => {
  it('stay the same when the conversation goes on', () => {
    const first = user(text('Hello'));
    const marked: RequestMessage = user({ type: 'text', text: 'Hello', cache: { ttl: '5m' } });
    const answer: RequestMessage = { role: 'assistant', content: [text('Hi')] };
    expect(digests(first, answer, user(text('And?')))).to.include(last(marked));
    expect(digests(user(text('Hello'), text('again')))).to.include(last(first));
  });

  const bytes = (...values: number[]) => Buffer.from(values);
  const image = (...values: number[]): RequestContent => ({
    type: 'image',
    field: 'f',
    source: { bytes: bytes(...values), mediaType: 'image/png', format: 'png', release: () => {} } as Image,
  });
  const document = (...values: number[]): RequestContent => ({
    type: 'document',
    mediaType: 'application/pdf',
    bytes: bytes(...values),
  });
  const result = (...content: readonly ReturnType<typeof image>[]): RequestContent => ({
    type: 'tool-result',
    id: 'i',
    name: 'n',
    isError: false,
    content: content as never,
  });

  for (const [name, one, other] of [
    ['a text', user(text('Hello')), user(text('Hallo'))],
    ['the cut between texts', user(text('ab'), text('c')), user(text('a'), text('bc'))],
    ['who says it', user(text('Hello')), { role: 'assistant', content: [text('Hello')] }],
    ['an image', user(image(1, 2)), user(image(1, 3))],
    ['a document', user(document(1, 2)), user(document(1, 3))],
    ['a result', user(result(text('a'))), user(result(text('b')))],
    ['an image of a result', user(result(image(1))), user(result(image(2)))],
    [
      'the arguments of a call',
      { role: 'assistant', content: [{ type: 'tool-call', id: 'i', name: 'n', json: '{"a":1}' }] },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'i', name: 'n', json: '{"a":2}' }] },
    ],
  ] as const satisfies readonly (readonly [string, RequestMessage, RequestMessage])[]) {
    it(`differ by ${name}, and so does all that follows`, () => {
      expect(last(one)).not.to.equal(last(other));
      expect(last(one, user(text('next')))).not.to.equal(last(other, user(text('next'))));
    });
  }

  it('are none where there are very many, which would take long', () => {
    const many = (count: number) => user(...Array.from({ length: count }, () => text('a')));
    expect(digests(many(10_000))).to.have.length(10_001);
    expect(digests(many(6_000), many(4_001))).to.deep.equal([]);
  });

  it('differ by the conversation, the system prompt and the tools', () => {
    const messages = [user(text('Hello'))];
    const tools = { list: [], text: 'tool' };
    const all = [
      digestBeginnings('c', { system, messages }),
      digestBeginnings('d', { system, messages }),
      digestBeginnings('c', { system: undefined, messages }),
      digestBeginnings('c', { system, messages, tools }),
    ];
    expect(new Set(all.map((each) => each.at(-1))).size).to.equal(4);
  });
});
