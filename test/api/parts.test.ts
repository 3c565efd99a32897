// How long requests are split for the transfer between threads: small steps, images without a copy.
import { expect } from 'chai';
import {
  type Cut,
  createImageStep,
  groupSteps,
  type Joining,
  listTransfers,
  receiveImage,
  sliceLongText,
} from '../../lib/api/parts.ts';
import { cutPromptRequest, joinPromptRequest } from '../../lib/api/prompt-parts.ts';
import { cutTextRequest, joinTextRequest } from '../../lib/api/text-parts.ts';
import { sniffImage } from '../../lib/base/sniff.ts';
import type { TextRequest } from '../../lib/calls/text/request.ts';
import { createImage } from '../../lib/media/image.ts';
import { PNG } from '../media/sample-images.ts';

const MIB = 1024 * 1024;

describe('parts of a request', () => {
  /** The lengths of the groups that steps with so many characters make. */
  const groupsOf = (characters: readonly number[]) =>
    [
      ...groupSteps(
        characters.map((length) => ({ length })),
        ({ length }) => length,
      ),
    ].map((group) => group.length);

  it('are grouped by number and characters', () => {
    expect(groupsOf([])).to.deep.equal([]);
    expect(groupsOf(Array(2500).fill(0))).to.deep.equal([1000, 1000, 500]);
    expect(groupsOf(Array(1000).fill(1))).to.deep.equal([1000]);
    expect(groupsOf([MIB, 1])).to.deep.equal([1, 1]);
    expect(groupsOf([MIB - 1, 1, 1])).to.deep.equal([2, 1]);
    expect(groupsOf([MIB / 2, MIB / 2, MIB / 2, MIB / 2, 1])).to.deep.equal([2, 2, 1]);
  });

  it('are groups of a few hundred tools, each of any length', () => {
    const tool = { name: 'look', description: undefined, schema: {} };
    const request = { messages: [], system: undefined, tools: { list: Array(600).fill(tool) } };
    const { groups } = cutTextRequest(request as unknown as TextRequest);
    expect(
      Iterator.from(groups)
        .map((group) => group.length)
        .toArray(),
    ).to.deep.equal([256, 256, 88]);
  });

  it('are slices of a long text', () => {
    const lengths = (text: string) => [...sliceLongText(text)].map(({ length }) => length);
    expect(lengths('')).to.deep.equal([]);
    expect(lengths('a'.repeat(MIB))).to.deep.equal([MIB]);
    expect(lengths('a'.repeat(2 * MIB + 1))).to.deep.equal([MIB, MIB, 1]);
    const text = Array.from({ length: 200_000 }, (_, at) => `${at} `).join('');
    expect([...sliceLongText(text)].join('') === text).to.equal(true);
  });

  /** A request after its way in pieces. */
  function passOn<Request>({ head, groups }: Cut<Request>, join: (head: Request) => Joining<Request>): Request {
    const joining = join(head);
    for (const group of Iterator.from(groups)) joining.add(group);
    return joining.whole();
  }

  it('are joined to the same request, also with long texts in several slices', () => {
    const words = (word: string) => ({ type: 'text', text: word.repeat(MIB) });
    const image = { type: 'image', field: 'image', source: 'https://images.example/a.png' };
    const result = { type: 'tool-result', id: 'a', name: 'look', isError: true };
    const call = { type: 'tool-call', id: 'a', name: 'look', json: '{"a":1}'.padEnd(3 * MIB) };
    const state = { format: 'messages', value: 's' };
    const thought = { type: 'reasoning', text: 'hm '.repeat(MIB), state };
    const tools = { list: [{ name: 'look', schema: {} }], text: '', choice: 'auto' };
    const whole = {
      model: 'm',
      messageCount: 4,
      images: 1,
      maxTokens: 5,
      stream: true,
      tools,
      system: [words('Ты '), { type: 'text', text: 'и', cache: { ttl: '1h' } }],
      messages: [
        { role: 'user', content: [words('да '), { type: 'text', text: 'and' }] },
        { role: 'assistant', content: [thought, call] },
        { role: 'user', content: [{ ...result, content: [words('ok '), image] }, words('so ')] },
        { role: 'user', content: [image, { type: 'text', text: 'go on' }] },
      ],
    } as unknown as TextRequest;
    expect(passOn(cutTextRequest(whole), joinTextRequest as (head: TextRequest) => Joining<TextRequest>)).to.deep.equal(
      whole,
    );
    const drawn = { model: 'm', prompt: 'холм '.repeat(MIB), images: [image, image] } as never;
    expect(passOn(cutPromptRequest(drawn), joinPromptRequest)).to.deep.equal(drawn);
  });

  it('are images, whose memory is transferred', () => {
    const bytes = Buffer.from(PNG);
    const sniffed = sniffImage(bytes);
    if (!sniffed) throw new Error('an image is one');
    const image = {
      type: 'image',
      field: 'image',
      source: createImage({ bytes, release: () => undefined }, sniffed),
    } as const;
    const link = { type: 'image', field: 'images[0]', source: 'https://images.example/a.png' } as const;
    const step = createImageStep(image);
    const linkStep = createImageStep(link);
    expect(listTransfers([{ text: 'a' }, step, linkStep, step])).to.deep.equal([bytes.buffer, bytes.buffer]);
    expect(receiveImage(linkStep.image)).to.deep.equal(link);
    const { field, source } = receiveImage(step.image);
    if (typeof source === 'string') throw new Error('it is no link');
    expect([field, source.mediaType, Buffer.compare(source.bytes, PNG)]).to.deep.equal(['image', 'image/png', 0]);
  });
});
