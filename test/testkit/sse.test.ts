import { expect } from 'chai';
import fc from 'fast-check';
import type { LineLimits } from '../../lib/stream/lines.ts';
import { longer } from '../../testkit/long.ts';
import { createSseDecoder, type ServerSentEvent } from '../../testkit/sse.ts';
import { itTimed } from '../../testkit/timed.ts';

const encoder = new TextEncoder();

interface Decoded {
  readonly events: ServerSentEvent[];
  readonly failure: string | undefined;
}

function decode(chunks: readonly Uint8Array[], limits?: LineLimits): Decoded {
  const decoder = createSseDecoder(limits);
  const events: ServerSentEvent[] = [];
  for (const chunk of chunks) decoder.push(chunk, events);
  decoder.end(events);
  return { events, failure: decoder.failure?.message };
}

function decodeText(text: string, limits?: LineLimits): Decoded {
  return decode([encoder.encode(text)], limits);
}

const message = (data: string): ServerSentEvent => ({ event: 'message', data });

function everyByte(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const cuts = [...at.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let start = 0;
  return cuts.map((end) => {
    const chunk = bytes.subarray(start, end);
    start = end;
    return chunk;
  });
}

/** The standard's algorithm, written plainly over the whole text. */
function interpret(bytes: Uint8Array): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  let data: string[] = [];
  let event = '';
  for (const line of [...new TextDecoder().decode(bytes).split(/\r\n|\n|\r/), '']) {
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line === '') {
      if (data.length > 0) events.push({ event: event || 'message', data: data.join('\n') });
      data = [];
      event = '';
    } else if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  }
  return events;
}

const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('data:', 'data: ', 'data', 'event: delta', 'event', 'id: 7', ': note', ' ', ':'),
  },
  { weight: 4, arbitrary: fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\n\r\n', '\r\r') },
  { weight: 2, arbitrary: fc.constantFrom('{"a":1}', 'ю', '€', '😀', '\uFEFF', '\u2028', 'x') },
);
const wellFormed = fc.array(piece, { maxLength: 30 }).map((pieces) => encoder.encode(pieces.join('')));
const broken = fc
  .array(fc.oneof(wellFormed, fc.uint8Array({ maxLength: 4 })), { maxLength: 8 })
  .map((parts) => new Uint8Array(Buffer.concat(parts)));

describe('server-sent events', () => {
  const cases: readonly (readonly [what: string, text: string, events: readonly ServerSentEvent[]])[] = [
    ['an ordinary event', 'data: {"a":1}\n\n', [message('{"a":1}')]],
    ['an event with a name', 'event: delta\ndata: x\n\n', [{ event: 'delta', data: 'x' }]],
    ['the name only for its own event', 'event: a\ndata: 1\n\ndata: 2\n\n', [{ event: 'a', data: '1' }, message('2')]],
    ['a name without data', 'event: a\n\ndata: 2\n\n', [message('2')]],
    ['data without a space', 'data:x\n\n', [message('x')]],
    ['only one space taken off', 'data:  x\n\n', [message(' x')]],
    ['several data lines', 'data: a\ndata: b\ndata:\n\n', [message('a\nb\n')]],
    ['fields without a colon', 'data\n\nevent\ndata: x\n\n', [message(''), message('x')]],
    ['comments', ': keep-alive\n\n:\n\ndata: x\n: in between\n\n', [message('x')]],
    ['unknown fields', 'id: 1\nretry: 5\ndatax: 1\nDATA: 2\ndata: x\n\n', [message('x')]],
    ['CRLF', 'event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n', [{ event: 'a', data: 'x' }, message('y')]],
    ['CR', 'data: x\r\rdata: y\r\r', [message('x'), message('y')]],
    ['mixed line ends', 'data: x\r\n\ndata: y\n\r\ndata: z\r\n\r', [message('x'), message('y'), message('z')]],
    ['a byte order mark at the start only', '\uFEFFdata: x\n\n\uFEFFdata: y\n\n', [message('x')]],
    ['a last event without its blank line', 'data: x\n\ndata: y\n', [message('x'), message('y')]],
    ['a last line without its end', 'data: x\n\ndata: y', [message('x'), message('y')]],
    ['other separators of Unicode as text', 'data: a\u2028b\u0085c\n\n', [message('a\u2028b\u0085c')]],
    ['nothing', '', []],
    ['blank lines only', '\n\n\r\n\n', []],
  ];
  for (const [what, text, events] of cases) {
    it(`reads ${what}`, () => {
      expect(decodeText(text).events).to.deep.equal(events);
      expect(decode(everyByte(encoder.encode(text))).events).to.deep.equal(events);
    });
  }

  it('emits an event at the CR of its blank line, without waiting for an LF', () => {
    const decoder = createSseDecoder();
    const events: ServerSentEvent[] = [];
    decoder.push(encoder.encode('data: x\r\n\r'), events);
    expect(events).to.deep.equal([message('x')]);
    decoder.push(encoder.encode('\ndata: y\r\n\r\n'), events);
    expect(events).to.deep.equal([message('x'), message('y')]);
  });

  it('reads any bytes as the standard does, however they are cut', () => {
    fc.assert(
      fc.property(fc.oneof(wellFormed, broken), fc.array(fc.nat(), { maxLength: 6 }), (bytes, at) => {
        const expected = interpret(bytes);
        expect(decode([bytes]).events).to.deep.equal(expected);
        expect(decode(everyByte(bytes)).events).to.deep.equal(expected);
        expect(decode(cut(bytes, at)).events).to.deep.equal(expected);
      }),
      { numRuns: longer(100, 2000) },
    );
  });

  it('fails at the same place under any cut when a limit is broken', () => {
    const limits = { charsMax: 12, bytesMax: 60 };
    fc.assert(
      fc.property(wellFormed, fc.array(fc.nat(), { maxLength: 6 }), (bytes, at) => {
        const expected = decode([bytes], limits);
        expect(decode(everyByte(bytes), limits)).to.deep.equal(expected);
        expect(decode(cut(bytes, at), limits)).to.deep.equal(expected);
      }),
      { numRuns: longer(60, 1000) },
    );
  });

  it('keeps the events before an event that is too long, and nothing after it', () => {
    const long = `data: 1\n\n${'data: 0123456789\n'.repeat(10)}\ndata: 2\n\n`;
    const decoded = decodeText(long, { charsMax: 50, bytesMax: 1000 });
    expect(decoded.events).to.deep.equal([message('1')]);
    expect(decoded.failure).to.equal('an event is longer than 50 characters');
  });

  it('keeps the events within the limit of a body, and nothing after it', () => {
    const decoded = decodeText('data: 1\n\ndata: 2\n\ndata: 3\n\n', { charsMax: 50, bytesMax: 20 });
    expect(decoded.events).to.deep.equal([message('1'), message('2')]);
    expect(decoded.failure).to.equal('the answer is longer than 20 bytes');
  });

  it('allows sizes exactly at the limits', () => {
    const text = 'data: 0123456789\n\n';
    expect(decodeText(text, { charsMax: 16, bytesMax: text.length })).to.deep.equal({
      events: [message('0123456789')],
      failure: undefined,
    });
  });

  itTimed('caps an endless line that comes byte by byte without reading it again and again', () => {
    const decoder = createSseDecoder();
    const byte = Uint8Array.of(120);
    const started = performance.now();
    for (let count = 0; count < 1024 * 1024; count++) decoder.push(byte, []);
    expect(decoder.failure).to.equal(undefined);
    decoder.push(byte, []);
    expect(decoder.failure?.message).to.equal('a line is longer than 1048576 characters');
    expect(performance.now() - started).to.be.below(15_000);
  });

  itTimed('reads an event of very many data lines and a long line of one, both in linear time', () => {
    const length = longer(40_000, 200_000);
    const started = performance.now();
    const many = decodeText(`${'data:\n'.repeat(longer(200_000, 1_000_000))}\n`);
    expect(many.events).to.have.length(1);
    const one = decode(everyByte(encoder.encode(`data: ${'ю'.repeat(length)}\n\n`)));
    expect(one.events[0]?.data).to.have.length(length);
    expect(performance.now() - started).to.be.below(15_000);
  });
});
