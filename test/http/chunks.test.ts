import { expect } from 'chai';
import { mergeChunks } from '../../lib/http/chunks.ts';

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

describe('chunks', () => {
  const merged = (text: string) => {
    const { chunk: one, used, after } = mergeChunks(Buffer.from(text));
    return { one: one?.toString(), used, after };
  };

  it('that are short become one', () => {
    const text = [...'{"model":"a"}'].map(chunk).join('');
    expect(merged(text)).to.deep.equal({ one: 'd\r\n{"model":"a"}\r\n', used: text.length, after: { type: 'part' } });
  });

  it('may contain anything', () => {
    const text = `${chunk('\r\n')}${chunk('0\r\n\r\n')}${chunk('я')}`;
    expect(merged(text).one).to.equal('9\r\n\r\n0\r\n\r\nя\r\n');
  });

  it('may have lengths in any letters, and zeros before them', () => {
    expect(merged(`0000000A\r\n0123456789\r\na\r\n0123456789\r\n`)).to.include({
      one: '14\r\n01234567890123456789\r\n',
    });
  });

  it('that are not there in full wait, wherever they are cut', () => {
    const [first, second] = [chunk('ab'), chunk('x'.repeat(300))];
    for (let cut = 0; cut < second.length; cut += 1) {
      const expected = { one: first, used: first.length, after: { type: 'part' } };
      expect(merged(first + second.slice(0, cut)), `cut at ${cut}`).to.deep.equal(expected);
    }
    expect(merged('')).to.deep.equal({ one: undefined, used: 0, after: { type: 'part' } });
  });

  it('are short up to half a KiB', () => {
    expect(merged(chunk('x'.repeat(512))).after).to.deep.equal({ type: 'part' });
    expect(merged(chunk('x'.repeat(512))).used).to.equal(chunk('x'.repeat(512)).length);
    const long = chunk('x'.repeat(513));
    expect(merged(long)).to.deep.equal({ one: undefined, used: 0, after: { type: 'long', bytes: long.length } });
  });

  it('may be more than any read before', () => {
    const text = 'x'.repeat(500);
    for (const count of [400, 1, 800]) {
      const { one, used } = merged(chunk(text).repeat(count));
      expect(one === chunk(text.repeat(count)), `${count} chunks`).to.equal(true);
      expect(used).to.equal(count * chunk(text).length);
    }
  });

  it('that are long are left as they are', () => {
    const long = chunk('x'.repeat(600));
    const expected = { one: 'a\r\n0123456789\r\n', used: 15, after: { type: 'long', bytes: long.length } };
    expect(merged(chunk('0123456789') + long.slice(0, 20))).to.deep.equal(expected);
  });

  for (const other of [
    '0\r\n\r\n',
    '00\r\n\r\n',
    'zz\r\nab\r\n',
    '\r\n',
    ' 2\r\nab\r\n',
    '2 \r\nab\r\n',
    '2;x=y\r\nab\r\n',
    '2\nab\n',
    '-2\r\nab\r\n',
    '0x2\r\nab\r\n',
    '000000002\r\nab\r\n',
    '2\r\nabc\r\n',
    '2\r\nab\n\n',
    '2\rxab\r\n',
  ]) {
    it(`do not include ${JSON.stringify(other)}`, () => {
      const expected = { one: '1\r\na\r\n', used: 6, after: { type: 'other' } };
      expect(merged(chunk('a') + other)).to.deep.equal(expected);
    });
  }
});
