import { expect } from 'chai';
import fc from 'fast-check';
import { LINE_LIMITS, type LineLimits, LineSplitter } from '../../lib/stream/lines.ts';
import { heapMiB } from '../../testkit/garbage.ts';
import { longer } from '../../testkit/long.ts';

const encoder = new TextEncoder();

function decode(chunks: readonly Uint8Array[], limits?: LineLimits): { lines: string[]; failure: string | undefined } {
  const { splitter, lines } = split(limits);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return { lines, failure: splitter.failure?.message };
}

/** Keeps the lines that are more than white space. */
function split(limits: LineLimits = LINE_LIMITS): { splitter: LineSplitter; lines: string[] } {
  const lines: string[] = [];
  const splitter = new LineSplitter(limits, {
    takeLine(text, start, end) {
      const line = text.slice(start, end);
      if (line.trim() !== '') lines.push(line);
      return end;
    },
  });
  return { splitter, lines };
}

function everyByte(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte));
}

describe('splitter of lines', () => {
  const cases: readonly (readonly [what: string, text: string, lines: readonly string[]])[] = [
    ['one value a line', '{"a":1}\n{"a":2}\n', ['{"a":1}', '{"a":2}']],
    ['a last line without its end', '{"a":1}\n{"a":2}', ['{"a":1}', '{"a":2}']],
    ['CRLF and CR', '1\r\n2\r3\r\n', ['1', '2', '3']],
    ['empty lines and white space passed over', '\n\n1\n  \n\t\n2\n\n', ['1', '2']],
    ['a byte order mark', '\uFEFF1\n', ['1']],
    ['characters of several bytes', '"ю€😀"\n', ['"ю€😀"']],
    [
      'characters whose last bytes are the first of their kind',
      '"\u0400\u2000\u{1f000}"\n',
      ['"\u0400\u2000\u{1f000}"'],
    ],
    ['nothing', '', []],
  ];
  for (const [what, text, lines] of cases) {
    it(`reads ${what}`, () => {
      expect(decode([encoder.encode(text)]).lines).to.deep.equal(lines);
      expect(decode(everyByte(encoder.encode(text))).lines).to.deep.equal(lines);
    });
  }

  it('bounds each line, not where it stands', () => {
    const short = Array.from({ length: 20 }, (_, at) => `line ${at}`);
    const limits = { ...LINE_LIMITS, charsMax: 7 };
    expect(decode([encoder.encode(short.join('\n'))], limits)).to.deep.equal({ lines: short, failure: undefined });
    expect(decode([encoder.encode('12345678\n')], limits).failure).to.equal('a line is longer than 7 characters');
  });

  it('takes CRLF for one end, also when its halves come apart, and CR twice for two', () => {
    const linesOf = (...texts: string[]) => {
      const lines: string[] = [];
      const takeLine = (text: string, start: number, end: number) => {
        lines.push(text.slice(start, end));
        return end;
      };
      const splitter = new LineSplitter(LINE_LIMITS, { takeLine });
      for (const text of texts) splitter.push(encoder.encode(text));
      splitter.end();
      return lines;
    };
    expect(linesOf('a\r\nb\r\n')).to.deep.equal(['a', 'b']);
    expect(linesOf('a\r', '\nb')).to.deep.equal(['a', 'b']);
    expect(linesOf('a\r', '', '\nb')).to.deep.equal(['a', 'b']);
    expect(linesOf('a\r', 'b\n', '\nc')).to.deep.equal(['a', 'b', '', 'c']);
    expect(linesOf('a\r', '\r\nb')).to.deep.equal(['a', '', 'b']);
    expect(linesOf('a\n', '\nb')).to.deep.equal(['a', '', 'b']);
  });

  it('drops a byte order mark at the very start only', () => {
    expect(decode(['\uFEFF1', '\uFEFF2\n', '\uFEFF3'].map((text) => encoder.encode(text))).lines).to.deep.equal([
      '1\uFEFF2',
      '\uFEFF3',
    ]);
  });

  it('takes a line of a mebi of characters and 64 MiB in all, and nothing above', () => {
    const line = new Uint8Array(1024 * 1024).fill(0x78);
    const short = Uint8Array.from(line).fill(0x0a, -1);
    expect(decode([line]).failure).to.equal(undefined);
    expect(decode([line, Uint8Array.of(0x78)]).failure).to.equal('a line is longer than 1048576 characters');
    const { splitter, lines } = split();
    for (let mebi = 0; mebi < 64; mebi += 1) splitter.push(short);
    expect([lines.length, splitter.failure]).to.deep.equal([64, undefined]);
    splitter.push(Uint8Array.of(0x78));
    expect(splitter.failure?.message).to.equal('the answer is longer than 67108864 bytes');
  });

  it('counts the pieces of a line together, and of each line anew, and takes what is just as long as allowed', () => {
    const limits = { charsMax: 6, bytesMax: 20 };
    const cut = (...texts: string[]) =>
      decode(
        texts.map((text) => encoder.encode(text)),
        limits,
      );
    expect(cut('123', '456\n12', '3456', '\n123456\n')).to.include({ failure: 'the answer is longer than 20 bytes' });
    expect(cut('123', '456\n12', '3456', '\n12345')).to.deep.equal({
      lines: ['123456', '123456', '12345'],
      failure: undefined,
    });
    expect(cut('1234', '567')).to.deep.equal({ lines: [], failure: 'a line is longer than 6 characters' });
    expect(cut('1234', '567\n8\n').failure).to.equal('a line is longer than 6 characters');
  });

  it('gives back any values, however their bytes are cut', () => {
    const ends = fc.constantFrom('\n', '\r\n', '\r', '\n\n');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.json(), ends)), fc.nat(), (values, at) => {
        const bytes = encoder.encode(values.map(([json, end]) => json + end).join(''));
        const expected = values.map(([json]) => json);
        const place = at % (bytes.length + 1);
        expect(decode([bytes.subarray(0, place), bytes.subarray(place)]).lines).to.deep.equal(expected);
        expect(decode(everyByte(bytes)).lines).to.deep.equal(expected);
      }),
      { numRuns: longer(100, 500) },
    );
  });

  it('turns broken UTF-8 into replacement characters, the same under every cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (bytes) => {
        const whole = new TextDecoder().decode(bytes);
        const expected = whole.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
        for (let place = 0; place <= bytes.length; place++) {
          const decoded = decode([bytes.subarray(0, place), bytes.subarray(place)]);
          expect(decoded.lines).to.deep.equal(expected);
        }
      }),
      { numRuns: longer(150, 2000) },
    );
  });

  it('fails on a line above the limit, after the lines before it', () => {
    const bytes = encoder.encode('1\n1234567\n2\n');
    expect(decode([bytes], { charsMax: 6, bytesMax: 100 })).to.deep.equal({
      lines: ['1'],
      failure: 'a line is longer than 6 characters',
    });
  });

  it('fails on a body above the limit, after the lines within it', () => {
    const bytes = encoder.encode('1\n2\n3\n4\n');
    for (const chunks of [[bytes], everyByte(bytes)]) {
      expect(decode(chunks, { charsMax: 6, bytesMax: 4 })).to.deep.equal({
        lines: ['1', '2'],
        failure: 'the answer is longer than 4 bytes',
      });
    }
  });

  it('keeps copies, not views, of bytes that wait for their rest', () => {
    const { splitter, lines } = split();
    const chunk = encoder.encode('"ю');
    splitter.push(chunk.subarray(0, 2));
    const reused = chunk.subarray(0, 2).fill(0x41);
    expect(reused[1]).to.equal(0x41);
    splitter.push(encoder.encode('ю').subarray(1));
    splitter.end();
    expect(lines).to.deep.equal(['"ю']);
  });

  it('takes little more memory for a line that comes in small pieces', () => {
    const { splitter, lines } = split({ charsMax: 4_000_000, bytesMax: 4_000_000 });
    const piece = encoder.encode('ab');
    const before = heapMiB();
    for (let at = 0; at < 1_000_000; at += 1) splitter.push(piece);
    expect(heapMiB() - before).to.be.below(8);
    splitter.push(encoder.encode('\n'));
    expect(lines[0] === 'ab'.repeat(1_000_000)).to.equal(true);
  });
});
