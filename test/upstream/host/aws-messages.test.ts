// Messages of an AWS event stream as their bytes say: headers of any type, errors, and the shortest one there is.
import { Buffer } from 'node:buffer';
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import type { Frame } from '../../../lib/upstream/contract/provider.ts';
import { createFraming } from '../../../lib/upstream/host/framing.ts';

type Header = readonly [name: string, type: number, value: Buffer];

const STRING = 7;
const text = (name: string, value: string): Header => [name, STRING, withLength(Buffer.from(value))];

function withLength(value: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(value.length);
  return Buffer.concat([length, value]);
}

function checked(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return Buffer.concat([bytes, sum]);
}

function message(headers: readonly Header[], payload = ''): Buffer {
  const head = Buffer.concat(
    headers.map(([name, type, value]) =>
      Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), Buffer.from([type]), value]),
    ),
  );
  const body = Buffer.from(payload);
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(12 + head.length + body.length + 4);
  lengths.writeUInt32BE(head.length, 4);
  return checked(Buffer.concat([checked(lengths), head, body]));
}

function read(...messages: readonly Buffer[]): readonly Frame[] {
  const framing = createFraming('aws-event-stream', 1000);
  return [...framing(Buffer.concat(messages)), ...framing(undefined)];
}

describe('a message of an AWS event stream', () => {
  it('has its name in a header of text, whatever types the others are of', () => {
    const sizes = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];
    const value = Buffer.alloc(16, 3);
    const others = sizes.map(
      (size, type): Header => [`h${type}`, type, size === undefined ? withLength(value) : value.subarray(0, size)],
    );
    for (const other of others) {
      const [frame] = read(message([other, text(':event-type', 'delta')], '{}'));
      expect(frame, `type ${other[1]}`).to.deep.equal({ data: '{}', name: 'delta' });
    }
    const bytes: Header = [':event-type', 6, withLength(Buffer.from('delta'))];
    expect(read(message([bytes], '{}'))).to.deep.equal([{ data: '{}', name: '' }]);
  });

  it('may have neither headers nor a payload', () => {
    expect(read(message([]), message([], '1'))).to.deep.equal([
      { data: '', name: '' },
      { data: '1', name: '' },
    ]);
  });

  it('of an error has the code for its name and the message for its data', () => {
    const error = text(':message-type', 'error');
    const coded = [error, text(':error-code', 'SlowDown'), text(':error-message', 'Too fast.')];
    expect(read(message(coded), message([error]))).to.deep.equal([
      { data: '{"message":"Too fast."}', name: 'SlowDown', isError: true },
      { data: '{}', name: '', isError: true },
    ]);
  });

  it('of an exception may have no name', () => {
    const exception = [text(':message-type', 'exception')];
    expect(read(message(exception, '{}'))).to.deep.equal([{ data: '{}', name: '', isError: true }]);
  });
});
