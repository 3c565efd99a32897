// The framings that a plugin may name, however their bytes arrive.
import { expect } from 'chai';
import { encodeAwsEvents } from '../../../lib/upstream/check/aws-events.ts';
import type { Frame } from '../../../lib/upstream/contract/provider.ts';
import { createFraming, type FramingName } from '../../../lib/upstream/host/framing.ts';
import { heapMiB } from '../../../testkit/garbage.ts';
import { expectLinear } from '../../../testkit/growth.ts';

const BYTES_MAX = 1000;
const PIECE_BYTES = 64;

function read(name: FramingName, body: string | Buffer, size = 1): readonly Frame[] {
  const framing = createFraming(name, BYTES_MAX);
  const bytes = Buffer.from(body);
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; at += size) frames.push(...framing(bytes.subarray(at, at + size)));
  return [...frames, ...framing(undefined)];
}

const HELLO = encodeAwsEvents([{ event: 'delta', data: { text: 'мир 😀' } }]);
const FAILED = encodeAwsEvents([{ exception: 'throttlingException', data: { message: 'Later.' } }]);

const CASES: readonly (readonly [name: FramingName, what: string, body: string | Buffer, frames: readonly Frame[]])[] =
  [
    ['events', 'data, names and comments', ': hi\nevent: a\ndata: 1\n\ndata:2\n\n', frame(['1', 'a'], ['2', ''])],
    ['events', 'the last of two names', 'event: a\nevent: b\ndata: 1\n\n', frame(['1', 'b'])],
    ['events', 'data in several lines', 'data: {"a":\ndata: 1}\nid: 7\n\n', frame(['{"a":\n1}', ''])],
    ['events', 'other line ends', 'data: 1\r\n\r\ndata: 2\r\rdata: 3\r\n\r\n', frame(['1', ''], ['2', ''], ['3', ''])],
    ['events', 'a last one without its blank line', 'data: 1\n\ndata: 2', frame(['1', ''], ['2', ''])],
    ['events', 'nothing but data', '{"error":1}\n\nretry: 5\n\n', []],
    [
      'lines',
      'one value in each',
      '{"a":"мир"}\n\n{"b":2}\r\n[3]',
      [{ data: '{"a":"мир"}' }, { data: '{"b":2}' }, { data: '[3]' }],
    ],
    ['json', 'a document in several lines', '{\n"a":\n\n1}\n', [{ data: '{\n"a":\n\n1}\n' }]],
    ['json', 'nothing', ' \n', []],
    [
      'aws-event-stream',
      'events',
      Buffer.concat([HELLO, HELLO]),
      Array(2).fill({ data: '{"text":"мир 😀"}', name: 'delta' }),
    ],
    [
      'aws-event-stream',
      'exceptions',
      FAILED,
      [{ data: '{"message":"Later."}', name: 'throttlingException', isError: true }],
    ],
    ['aws-event-stream', 'not what is cut', HELLO.subarray(0, -1), []],
  ];

function frame(...pairs: readonly (readonly [data: string, name: string])[]): readonly Frame[] {
  return pairs.map(([data, name]) => ({ data, name }));
}

describe('framing', () => {
  for (const [name, what, body, frames] of CASES) {
    it(`of ${name} reads ${what}`, () => {
      for (const size of [1, 2, 5, 1000]) expect(read(name, body, size), `pieces of ${size}`).to.deep.equal(frames);
    });
  }

  for (const name of ['events', 'aws-event-stream'] as const) {
    it(`of ${name} takes time in proportion to the pieces of a long frame`, () => {
      expectLinear((pieces) => {
        const text = 'x'.repeat(PIECE_BYTES * pieces);
        const bytes =
          name === 'aws-event-stream' ? encodeAwsEvents([{ event: 'a', data: { text } }]) : Buffer.from(text);
        const framing = createFraming(name, 2 * bytes.length);
        return () => {
          for (let at = 0; at < bytes.length; at += PIECE_BYTES) [...framing(bytes.subarray(at, at + PIECE_BYTES))];
          expect([...framing(undefined)]).to.have.lengthOf(0);
        };
      }, 3_000);
    });
  }

  it('refuses what is too long, and messages that are damaged', () => {
    const long = 'x'.repeat(BYTES_MAX + 1);
    for (const name of ['events', 'lines', 'json'] as const) expect(() => read(name, long)).to.throw('too long');
    const large = encodeAwsEvents([{ event: 'delta', data: { text: long } }]);
    expect(() => read('aws-event-stream', large)).to.throw('too long');
    for (const at of [0, 9, HELLO.length - 1, HELLO.length - 6]) {
      const damaged = Buffer.from(HELLO);
      damaged[at] = 0xff - (damaged[at] as number);
      expect(() => read('aws-event-stream', damaged)).to.throw(/message/);
    }
  });

  it('takes little more memory for a message of an AWS event stream that comes in small pieces', () => {
    const bytes = encodeAwsEvents([{ event: 'a', data: { text: 'x'.repeat(300_000) } }]);
    const framing = createFraming('aws-event-stream', bytes.length);
    const before = heapMiB();
    for (let at = 0; at < bytes.length - 1; at += 1) [...framing(bytes.subarray(at, at + 1))];
    expect(heapMiB() - before).to.be.below(4);
    expect([...framing(bytes.subarray(-1))]).to.have.length(1);
  });
});
