// Images of an answer on their way: their place among the blocks, what is refused, and what they cost.
import { expect } from 'chai';
import type { Fault } from '../../lib/base/faults.ts';
import { createMemoryQuota } from '../../lib/http/memory-quota.ts';
import { AnswerMemory } from '../../lib/stream/answer-memory.ts';
import { createCollector } from '../../lib/stream/collect.ts';
import { Guard } from '../../lib/stream/guard.ts';
import { Meter, type MeterOptions } from '../../lib/stream/meter.ts';
import type { StreamPart } from '../../lib/stream/part.ts';
import type { ProviderPart } from '../../lib/stream/provider-part.ts';
import { Stops } from '../../lib/stream/stops.ts';
import { FILM } from '../../testkit/film-upstream.ts';
import { BILLING } from '../api/dialects/replies.ts';
import { GIF, JPEG, png, WEBP_LOSSY } from '../media/sample-images.ts';

const PNG = png();
const BASE64 = PNG.toString('base64');

const START: ProviderPart = { type: 'start', id: '1', model: 'm' };
const STOP: ProviderPart = { type: 'finish', reason: 'stop' };
const image = (base64 = BASE64): ProviderPart => ({ type: 'image', base64 });
const seen = (index: number): StreamPart => ({ type: 'image', index, mediaType: 'image/png', base64: BASE64 });
const text = (index: number, said: string): ProviderPart[] => [
  { type: 'block-start', index, block: { type: 'text' } },
  { type: 'block-delta', index, text: said },
  { type: 'block-end', index },
];

function pass(parts: readonly ProviderPart[], options = {}): readonly StreamPart[] {
  const guard = new Guard({ outputMax: 100, ...options });
  return [...parts.flatMap((part) => guard.push([part])), ...guard.end()];
}

function failure(parts: readonly ProviderPart[]): readonly [code: string | undefined, cause: string] {
  const last = pass(parts).at(-1);
  const fault = last?.type === 'error' ? last.fault : ({} as Partial<Fault>);
  return [fault.data?.code, (fault.cause as Error | undefined)?.message ?? ''];
}

describe('images of an answer', () => {
  it('stand between its blocks, numbered like them', () => {
    expect(pass([START, ...text(0, 'A '), image(), ...text(1, 'B'), STOP])).to.deep.equal([
      START,
      ...text(0, 'A '),
      seen(1),
      ...text(2, 'B'),
      STOP,
    ]);
  });

  it('are an answer by themselves', () => {
    expect(pass([START, image(), STOP])).to.deep.equal([START, seen(0), STOP]);
  });

  it('wait for the block beside which they come, in their order', () => {
    const call: ProviderPart = { type: 'block-start', index: 0, block: { type: 'tool', id: 'c', name: 'draw' } };
    const json = (part: string): ProviderPart => ({ type: 'block-delta', index: 0, text: part });
    const [begin, said, end] = text(1, 'late') as [ProviderPart, ProviderPart, ProviderPart];
    const parts = [START, call, json('{"a"'), image(), begin, json(':1}'), said, image(), STOP];
    const types = (list: readonly StreamPart[]) => list.map((part) => ('text' in part ? part.text : part.type));
    const rest = ['{"a"', ':1}', 'block-end', 'image', 'block-start', 'late', 'block-end', 'image', 'finish'];
    expect(
      types(pass([...parts.slice(0, 6), { type: 'block-end', index: 0 }, said, image(), end, STOP])),
    ).to.deep.equal(['start', 'block-start', ...rest]);
    // Blocks that the upstream leaves open end with the answer.
    expect(types(pass(parts))).to.deep.equal(['start', 'block-start', ...rest]);
  });

  it('are told by their bytes, and encoded as clients read them', () => {
    const lines = BASE64.replace(/.{20}/g, '$&\r\n');
    expect(pass([START, image(lines), STOP])[1]).to.deep.equal(seen(0));
    // Of each length modulo 3, and with both digits that the other alphabet has.
    for (const tail of [[], [0xfb], [0xfb, 0xff], [0xfb, 0xff, 0xbf]]) {
      const bytes = Buffer.concat([PNG, Buffer.from(tail)]);
      const base64 = bytes.toString('base64');
      const bare = base64.replace(/=+$/, '');
      const forms = [base64, bare, bytes.toString('base64url'), `${bare}\n`, `${bare}\n\n`, ` ${bare}`, `${bare}=`];
      for (const form of [...forms, base64.replace(/.$/, '\n'), `${base64.slice(0, 40)}*${base64.slice(40)}`]) {
        const [, part] = pass([START, image(form), STOP]);
        const told = part?.type === 'image' ? part.base64 : '';
        expect(/^[A-Za-z0-9+/]+={0,2}$/.test(told) && told.length % 4, form).to.equal(0);
        if (!form.endsWith('\n') || form.startsWith(bare)) expect(told, form).to.equal(base64);
      }
    }
    const types = [JPEG, GIF, WEBP_LOSSY].map((bytes) => {
      const [, part] = pass([
        START,
        { ...image(bytes.toString('base64')), mediaType: 'image/png' } as ProviderPart,
        STOP,
      ]);
      return part?.type === 'image' && part.mediaType;
    });
    expect(types).to.deep.equal(['image/jpeg', 'image/gif', 'image/webp']);
  });

  it('fail the answer if they are broken, unknown or too large, in words', () => {
    const whole = 'an image of the answer is no PNG, JPEG, GIF or WebP, or is cut short';
    for (const bytes of [PNG.subarray(0, -5), Buffer.from('<svg/>'), Buffer.alloc(0), FILM]) {
      expect(failure([START, image(bytes.toString('base64')), STOP])).to.deep.equal(['upstream_image', whole]);
    }
    const large = png({ bytes: 20 * 1024 * 1024 }).toString('base64');
    expect(pass([START, image(large), STOP]).at(-1)).to.deep.equal(STOP);
    const larger = png({ bytes: 20 * 1024 * 1024 + 3 }).toString('base64');
    expect(failure([START, image(larger)])).to.deep.equal([
      'upstream_image',
      'an image of the answer has more than 20 MiB',
    ]);
    const [code, words] = failure([START, image(large), image(large), image(large)]);
    expect([code, words]).to.deep.equal([
      'upstream_image',
      'an image of the answer is one too many: they have more than 48 MiB in all',
    ]);
  }).timeout(20_000);

  it('take of the memory of the answer for as long as it lasts, and fail it where there never is room', () => {
    const bytesMax = 2 * BASE64.length + 10;
    const quota = createMemoryQuota({ bytesMax, ownerBytesMax: BASE64.length + 10 });
    const parts = [START, image(), image(), STOP];
    const memory = new AnswerMemory(quota, 'key');
    const delivered = pass(parts, { memory });
    expect(delivered.map(({ type }) => type)).to.deep.equal(['start', 'image', 'error']);
    expect(quota.used()).to.equal(BASE64.length);
  });

  it('violate the grammar before the start, or without their base64', () => {
    expect(failure([image()])[1]).to.match(/an image before the start/);
    expect(failure([START, { type: 'image' } as ProviderPart])[1]).to.match(/an image without its base64/);
  });

  it('are delivered however many tokens were counted, and as content behind a reason to end', () => {
    const counted: ProviderPart = { type: 'usage', output: 300 };
    const delivered = pass([START, ...text(0, 'Here:'), counted, image(), STOP]);
    expect(delivered.filter(({ type }) => type === 'image')).to.have.length(1);
    const guard = new Guard();
    guard.push([START, STOP]);
    expect(guard.finished).to.equal(true);
    guard.push([image()]);
    expect(guard.finished).to.equal(false);
  });

  it('are passed by stop strings, up to a match', () => {
    const stops = new Stops({ strings: ['END'] });
    const [begin, said, end] = text(0, 'almost EN') as unknown as [StreamPart, StreamPart, StreamPart];
    const types = (list: readonly StreamPart[]) => list.map((part) => ('text' in part ? part.text : part.type));
    expect(types(stops.push([begin, said, end, seen(1)]))).to.deep.equal([
      ...['block-start', 'almost ', 'EN', 'block-end', 'image'],
    ]);
    const after = new Stops({ strings: ['END'] });
    const [, cut] = text(0, 'so END of it') as unknown as [StreamPart, StreamPart];
    expect(types(after.push([begin, cut, end, seen(1)]))).to.deep.equal(['block-start', 'so ', 'block-end']);
  });

  it('are kept in their place for a whole reply', () => {
    const { write, reply } = createCollector();
    write([...pass([START, ...text(0, 'A'), image(), STOP]), BILLING]);
    expect(reply().blocks).to.deep.equal([
      { type: 'text', text: 'A' },
      { type: 'image', mediaType: 'image/png', base64: BASE64, text: '' },
    ]);
  });
});

describe('the bill of images in an answer', () => {
  const LIMITS = { trusted: true, inputEstimate: 11, inputMax: 1000, outputMax: 5000 };
  const estimateTokens = (said: string) => said.length / 4;
  const usage = (output: number, reasoning?: number): StreamPart => ({
    ...{ type: 'usage', input: 7, output },
    ...(reasoning !== undefined && { reasoning }),
  });
  const said: StreamPart = { type: 'block-delta', index: 0, text: 'word'.repeat(20) };

  function output(
    parts: readonly StreamPart[],
    ending: 'finished' | 'cut' = 'finished',
    more: Partial<MeterOptions> = {},
  ) {
    const meter = new Meter({ ...LIMITS, estimateTokens, ...more });
    meter.push(parts);
    return meter.bill(ending).output;
  }

  it('is what the upstream counted, if that can include them', () => {
    expect(output([said, seen(1), usage(1310)])).to.equal(1310);
    expect(output([said, seen(1), usage(74)])).to.equal(74);
  });

  it('has a thousand tokens for each that is not in the count', () => {
    expect(output([said, seen(1), usage(25)])).to.equal(1025);
    expect(output([said, seen(1), seen(2), usage(137)])).to.equal(2137);
    // Reasoning is not what has drawn it.
    expect(output([said, seen(1), usage(525, 500)])).to.equal(1525);
  });

  it('takes no text of reasoning for text of an answer that lacks its images', () => {
    const long = 'word'.repeat(4000);
    const shown: StreamPart[] = [
      { type: 'block-start', index: 0, block: { type: 'reasoning' } },
      { type: 'block-delta', index: 0, text: long },
      { type: 'block-end', index: 0 },
      { type: 'block-start', index: 1, block: { type: 'text' } },
    ];
    const more = { outputMax: 20_000 };
    for (const thought of [shown, [{ type: 'hidden', text: long } as StreamPart]]) {
      expect(output([...thought, said, seen(2), usage(5310, 4000)], 'finished', more)).to.equal(5310);
      expect(output([...thought, said, seen(2), usage(4020, 4000)], 'finished', more)).to.equal(5020);
      // Without a count of its own it is part of the output.
      expect(output([...thought, said, seen(2), usage(1310)], 'finished', more)).to.equal(2310);
    }
  });

  it('has a thousand tokens for each if nothing was counted, or the answer was cut', () => {
    expect(output([said, seen(1)])).to.equal(1020);
    expect(output([seen(0)])).to.equal(1000);
    expect(output([seen(0), usage(0)])).to.equal(1000);
    expect(output([said, seen(1), usage(30)], 'cut')).to.equal(1030);
    expect(output([said, seen(1)], 'finished', { trusted: false })).to.equal(1020);
  });

  it('stays within the maximum of the call', () => {
    expect(output([said, seen(1)], 'finished', { outputMax: 300 })).to.equal(300);
    expect(output([said, seen(1), usage(25)], 'finished', { outputMax: 300 })).to.equal(300);
  });

  it('is seen by those who ask while the call runs', () => {
    const meter = new Meter({ ...LIMITS, estimateTokens });
    meter.push([said]);
    expect(meter.exceeds({ input: 1000, output: 900 })).to.equal(false);
    meter.push([seen(1)]);
    expect(meter.exceeds({ input: 1000, output: 900 })).to.equal(true);
    expect(meter.used().output).to.equal(1020);
  });
});
