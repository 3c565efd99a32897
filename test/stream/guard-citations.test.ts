// Which citations pass the guard, where they stand, and how many.
import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { StreamPart } from '../../lib/stream/part.ts';
import type { Block, Citation, ProviderPart } from '../../lib/stream/provider-part.ts';
import { delta, FINISH, START } from './parts.ts';

const SOURCE: Citation = { url: 'https://a.example/' };

const open = (index: number, block: Block = { type: 'text' }): ProviderPart => ({ type: 'block-start', index, block });
const close = (index: number): ProviderPart => ({ type: 'block-end', index });
const cite = (index: number, citation: unknown = SOURCE) =>
  ({ type: 'block-citation', index, citation }) as ProviderPart;

function pass(parts: readonly ProviderPart[], showsReasoning = true): readonly StreamPart[] {
  const guard = new Guard({ outputMax: Number.POSITIVE_INFINITY, showsReasoning });
  return [...guard.push(parts), ...guard.end()];
}

const listCitations = (parts: readonly StreamPart[]) =>
  parts.flatMap((part) => (part.type === 'block-citation' ? [part.citation] : []));

const CITED = [START, open(0), delta('Hello')];

describe('citations at the guard', () => {
  it('pass in their block, by its own number', () => {
    const parts = pass([
      START,
      open(3, { type: 'reasoning' }),
      delta('Hm', 3),
      close(3),
      open(7),
      delta('Hello', 7),
      cite(7),
      FINISH,
    ]);
    expect(parts.slice(-4)).to.deep.equal([
      delta('Hello', 1),
      { type: 'block-citation', index: 1, citation: SOURCE },
      { type: 'block-end', index: 1 },
      FINISH,
    ]);
  });

  it('of a block that waits follow its text', () => {
    const block: Block = { type: 'text', cited: true };
    const parts = pass([
      START,
      open(0, block),
      delta('A'),
      open(1, block),
      delta('B', 1),
      cite(1),
      cite(1, { title: 'b' }),
      cite(0),
      close(0),
      close(1),
      FINISH,
    ]);
    expect(parts.filter(({ type }) => type === 'block-citation' || type === 'block-delta')).to.deep.equal([
      delta('A', 0),
      { type: 'block-citation', index: 0, citation: SOURCE },
      delta('B', 1),
      { type: 'block-citation', index: 1, citation: SOURCE },
      { type: 'block-citation', index: 1, citation: { title: 'b' } },
    ]);
  });

  it('are left out of calls and reasoning', () => {
    const call: Block = { type: 'tool', id: 'a', name: 'f' };
    expect(listCitations(pass([START, open(0, call), cite(0), close(0), FINISH]))).to.be.empty;
    expect(
      listCitations(pass([START, open(0, { type: 'reasoning' }), cite(0), close(0), open(1), delta('a', 1), FINISH])),
    ).to.be.empty;
  });

  const MISPLACED: Readonly<Record<string, readonly ProviderPart[]>> = {
    'before any block': [START, cite(0)],
    'of another block': [...CITED, cite(1)],
    'of a block that has ended': [...CITED, close(0), cite(0)],
  };
  for (const [place, parts] of Object.entries(MISPLACED)) {
    it(`${place} are mistakes of the provider`, () => {
      const last = pass([...parts, FINISH]).at(-1);
      expect(last?.type === 'error' && last.fault.cause)
        .to.have.property('message')
        .that.contains('a citation outside its block');
    });
  }

  const RIGHT: readonly Citation[] = [
    {},
    { url: 'https://a.example/', title: 'A', quote: 'a' },
    { document: 0, range: { unit: 'pages', start: 1, end: 2 } },
    { passage: { start: 0, end: 5 } },
    { original: { format: 'chat', value: '{}' } },
  ];
  for (const citation of RIGHT) {
    it(`pass as they are: ${JSON.stringify(citation)}`, () => {
      expect(listCitations(pass([...CITED, cite(0, citation), FINISH]))).to.deep.equal([citation]);
    });
  }

  const WRONG: readonly unknown[] = [
    null,
    'https://a.example/',
    { url: 1 },
    { title: null },
    { quote: {} },
    { document: 0.5 },
    { document: '0' },
    { range: { unit: 'pages', start: '1', end: 2 } },
    { range: { unit: 'pages', start: 1, end: 2.5 } },
    { passage: { start: null, end: 5 } },
    { passage: { start: 0, end: 1e300 } },
    { original: { format: 1, value: '{}' } },
    { original: { format: 'chat', value: {} } },
  ];
  for (const citation of WRONG) {
    it(`are mistakes of the provider if they are no citations: ${JSON.stringify(citation)}`, () => {
      const last = pass([...CITED, cite(0, citation), FINISH]).at(-1);
      expect(last?.type === 'error' && last.fault.cause)
        .to.have.property('message')
        .that.contains('a citation');
    });
  }

  it('pass up to a thousand', () => {
    const all = Array.from({ length: 1001 }, (_, document) => cite(0, { document }));
    const passed = listCitations(pass([...CITED, ...all, FINISH]));
    expect(passed).to.have.length(1000);
    expect(passed.at(-1)).to.deep.equal({ document: 999 });
  });

  /** Of this many characters of JSON. */
  const long = (characters: number): Citation => ({
    quote: 'a'.repeat(characters - JSON.stringify({ quote: '' }).length),
  });

  it('pass up to 64 Ki characters, and those after a longer one pass', () => {
    const most = long(64 * 1024);
    const all = [cite(0, most), cite(0, long(64 * 1024 + 1)), cite(0)];
    expect(listCitations(pass([...CITED, ...all, FINISH]))).to.deep.equal([most, SOURCE]);
  });

  it('pass up to 1 Mi characters together', () => {
    const most = long(64 * 1024);
    const all = [
      ...Array.from({ length: 15 }, () => cite(0, most)),
      cite(0, long(64 * 1024 - 2)),
      cite(0, {}),
      cite(0, {}),
    ];
    const passed = listCitations(pass([...CITED, ...all, FINISH]));
    expect(passed).to.have.length(17);
    expect(JSON.stringify(passed.at(-2))).to.have.length(64 * 1024 - 2);
  });
});
