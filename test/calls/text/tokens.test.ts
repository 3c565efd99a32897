import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { estimateInput } from '../../../lib/calls/text/estimate.ts';
import { countTokens, estimateTokens } from '../../../lib/calls/text/tokens.ts';
import { longer } from '../../../testkit/long.ts';
import { TOKENIZERS } from '../../../testkit/tokenizers.ts';
import { declaration, hostileTexts, ordinaryTexts } from './token-corpus.ts';

/** What is held for a text, without the 4 of its message. */
async function held(text: string): Promise<number> {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }];
  const more = { model: 'm', system: undefined, images: 0, maxTokens: 1, stream: false };
  return (await estimateInput({ ...more, messages, messageCount: 0 })).tokensHeld;
}

const floor = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

/** Long enough that what is forgiven to each call hardly shows. */
const TIMES = 40;
const FORGIVEN = 512;

async function outOfBounds(texts: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [name, text] of Object.entries(texts)) {
    const each = ((await held(text.repeat(TIMES))) + FORGIVEN) / TIMES;
    for (const [tokenizer, count] of Object.entries(TOKENIZERS)) {
      const ratio = count(text) / each;
      if (ratio > 1.1) found.push(`${name}: ${tokenizer} counts ${ratio.toFixed(3)} of what is held`);
    }
  }
  return found;
}

/** Every thirtieth, and in the slow tests all. */
function someOf(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter((_, at) => longer(at % 30 === 0, true)));
}

describe('tokens held for a text', () => {
  it('are at most a tenth below what any public tokenizer counts of ordinary text', async function () {
    this.timeout(60_000);
    expect(await outOfBounds(someOf(ordinaryTexts()))).to.deep.equal([]);
  });

  it('are at most a tenth below what any public tokenizer counts of hostile text', async function () {
    this.timeout(120_000);
    expect(await outOfBounds(someOf(hostileTexts()))).to.deep.equal([]);
  });

  it('are a fourth of the bytes of ordinary English, however long', async () => {
    const english = declaration('eng');
    for (const times of [1, 10, 100]) {
      const text = english.repeat(times);
      expect(await held(text)).to.equal(floor(text));
    }
  });

  it('are a fourth of the bytes of any short text', async () => {
    const texts = [
      '',
      'x',
      '👋',
      'привет',
      '\u0000'.repeat(600),
      'x'.repeat(2000),
      '{"a":[1,2,3]}',
      'Hello, world! '.repeat(300),
    ];
    for (const text of texts) expect(await held(text), text.slice(0, 20)).to.equal(floor(text));
  });

  it('are near a fourth of the bytes of ordinary Russian, and never below', async () => {
    const russian = declaration('rus').repeat(20);
    expect(await held(russian)).to.be.within(floor(russian), 1.1 * floor(russian));
  });

  it('are a token for each control character', async () => {
    expect(await held('\u0001'.repeat(1_000_000))).to.be.within(900_000, 1_000_000);
  });
});

describe('count of tokens', () => {
  const rows: readonly (readonly [text: string, tokens: number])[] = [
    ['', 0],
    ['the', 1],
    ['the house of the world', 5],
    ['The house', 2],
    ['qqq', 2],
    ['a b', 2],
    ['2026', 4],
    ['a  b', 3.25],
    ['!?', 1.9],
    ['!!', 1.5],
    ['AB', 1.8],
    ['AA', 2],
    ['\n\n', 2],
    ['中', 1],
    ['𐍈', 4],
    ['\ud800', 3],
    ['\udc00\ud800', 6],
    ['\u0080', 2],
  ];
  for (const [text, tokens] of rows) {
    it(`of ${JSON.stringify(text)} is ${tokens}`, () => expect(countTokens(text)).to.be.closeTo(tokens, 1e-9));
  }

  it('is the same for a text in one piece and in many, but for the words that are cut', () => {
    const text = declaration('eng').repeat(30);
    const single = countTokens(text.slice(0, 6000)) * (text.length / 6000);
    expect(countTokens(text)).to.be.closeTo(single, single / 50);
  });
});

/** The middle one of what public tokenizers count. */
function countMiddle(text: string): number {
  const counts = Object.values(TOKENIZERS).map((count) => count(text));
  return counts.sort((one, other) => one - other)[counts.length >> 1] ?? 0;
}

describe('estimate of tokens that nobody counted', () => {
  const source = readFileSync(new URL(import.meta.url), 'utf8');
  const usual: Readonly<Record<string, string>> = {
    English: declaration('eng'),
    Russian: declaration('rus'),
    French: declaration('fra'),
    German: declaration('deu_1996'),
    Spanish: declaration('spa'),
    Chinese: declaration('cmn_hans'),
    Japanese: declaration('jpn'),
    Korean: declaration('kor'),
    code: source,
    JSON: JSON.stringify({ path: 'lib/main.ts', edits: source.split('\n') }),
  };
  for (const [name, text] of Object.entries(usual)) {
    it(`of ${name} is within a tenth of the middle one of the public tokenizers`, () =>
      expect(estimateTokens(text) / countMiddle(text)).to.be.within(0.9, 1.1));
  }

  it('is among the counts of the public tokenizers in most languages, and clearly above them all in none', () => {
    const below: string[] = [];
    for (const [name, text] of Object.entries(someOf(ordinaryTexts()))) {
      const counts = Object.values(TOKENIZERS).map((count) => count(text));
      expect(estimateTokens(text), name).to.be.below(1.05 * Math.max(...counts));
      if (estimateTokens(text) < Math.min(...counts)) below.push(name);
    }
    expect(below.length).to.be.below(8);
  }).timeout(60_000);

  it('is exact for common words, and never above the upper bound', () => {
    expect(estimateTokens(' word'.repeat(500))).to.equal(500);
    for (const text of Object.values(hostileTexts())) {
      expect(estimateTokens(text)).to.be.at.most(countTokens(text));
      expect(estimateTokens(text)).to.be.above(0);
    }
  });
});
