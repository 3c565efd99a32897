import { readdirSync, readFileSync, statSync } from 'node:fs';
import { expect } from 'chai';
import { findHits } from '../../../lib/calls/smart/lexicon.ts';
import { findDirection, findSignal } from '../../../lib/calls/smart/names.ts';
import { isForeign, readTokens } from '../../../lib/calls/smart/tokens.ts';

const FOLDER = new URL('../../../lib/calls/smart/words/', import.meta.url);
const ONE_ALPHABET = /^~?(?:[a-z0-9]+|[а-я0-9]+)[*+]?(?:_(?:(?:[a-z0-9]+|[а-я0-9]+)[*+]?|\*))*$/;
const FILES = readdirSync(FOLDER);

/** The patterns of every concept. */
function readLists(): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (const file of FILES) {
    let concept = '';
    for (const line of readFileSync(new URL(file, FOLDER), 'utf8').split('\n')) {
      if (line.startsWith('#')) continue;
      if (line.startsWith('[')) {
        concept = line.slice(1, -1);
        expect(lists.has(concept), concept).to.equal(false);
        lists.set(concept, []);
      } else lists.get(concept)?.push(...line.split(' ').filter((pattern) => pattern !== ''));
    }
  }
  return lists;
}

const concepts = (text: string) => findHits(readTokens(text)).map(({ concept }) => concept);
const words = (text: string) =>
  readTokens(text).map(({ word, quoted }) => (quoted && /\w/.test(word) ? `«${word}»` : word));

describe('smart router words', () => {
  it('are listed once, in lower case, in both languages', () => {
    const lists = readLists();
    expect(lists.size).to.be.at.least(70);
    for (const [concept, patterns] of lists) {
      expect(new Set(patterns).size, concept).to.equal(patterns.length);
      for (const pattern of patterns) {
        expect(pattern, concept).to.match(ONE_ALPHABET);
      }
      expect(patterns.join(' '), concept).to.match(/[a-z]{2,}/);
      expect(patterns.join(' '), concept).to.match(/[а-я]{2,}/);
    }
  });

  it('are found where they are listed', () => {
    for (const [concept, patterns] of readLists()) {
      for (const pattern of patterns.filter((one) => /^[a-zа-я]{3,}[*+]?$/.test(one))) {
        expect(concepts(pattern.replace(/[*+]$/, '')), pattern).to.include(concept);
      }
    }
  });

  it('count for existing signals, which raise or lower the score as they should', () => {
    const file = new URL('../model/weights.txt', FOLDER);
    const lines = readFileSync(file, 'utf8').trim().split('\n').slice(1);
    expect(lines.length).to.be.above(5000);
    expect(statSync(file).size).to.be.below(400_000);
    for (const line of lines) {
      const [standard, heavy, name = ''] = line.split(' ');
      for (const weight of [standard, heavy]) expect(Number(weight), line).to.satisfy(Number.isSafeInteger);
      if (name === 'base' || /^[=^]/.test(name)) continue;
      expect(findSignal(name), name).to.not.equal(undefined);
      const direction = findDirection(findSignal(name));
      if (direction !== 0) {
        expect(Number(standard) * direction, line).to.be.at.least(0);
        expect(Number(heavy) * direction, line).to.be.at.least(0);
      }
    }
  });

  it('match by stem, by ending, as a phrase, and with a typo where that is safe', () => {
    expect(concepts('translating')).to.include('translate');
    expect(concepts('what is the opposite of warm')).to.include('lookup');
    expect(concepts('transalte')).to.include('translate');
    expect(concepts('перевиди')).to.include('translate');
    expect(concepts('fax')).to.not.include('fix');
    for (const typo of ['tarnslate', 'tranzlate', 'tranlate', 'trannslate', 'translited', 'clasify', 'sumarize']) {
      expect(concepts(typo), typo).to.have.length(1);
    }
    for (const other of ['xranslate', 'translax', 'trxxslate', 'transxlxte', 'correctxy']) {
      expect(concepts(other), other).to.deep.equal([]);
    }
  });

  it('do not count inside quotes', () => {
    expect(concepts('say «translate» in class')).to.not.include('translate');
    expect(words('say "write a program" twice')).to.include.members(['say', '«write»', '«program»', 'twice']);
    expect(words("don't say 'go away' to him")).to.include.members(['say', '«go»', '«away»', 'him']);
  });

  it('are read without typographic variants', () => {
    expect(words('ＷＲＩＴＥ ｃｏｄｅ')).to.deep.equal(['write', 'code']);
    expect(words('cafe\u0301 naïve ёлка')).to.deep.equal(['cafe', 'naive', 'елка']);
    expect(words('пpивeт')).to.deep.equal(['привет']);
    expect(words('C++ and C# on .NET')).to.deep.equal(['cpp', 'and', 'csharp', 'on', 'dotnet']);
    expect(words('10 000 of 1,200 at 3,5')).to.deep.equal(['10000', 'of', '1200', 'at', '3.5']);
    expect(words('ask a.b@c.example or https://x.example/y?z=1.')).to.deep.equal(['ask', '@', 'or', '@']);
  });

  it('are shipped: data files beside the code are copied into the package', () => {
    const root = new URL('../../../', import.meta.url);
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
      scripts: { prepack: string };
    };
    const data = readdirSync(new URL('lib', root), { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.(?!ts$|json$)\w+$/.test(path),
    );
    expect(data).to.include('calls/smart/words/tasks.txt');
    for (const path of data) expect(scripts.prepack).to.contain(`'lib/${path.slice(0, path.lastIndexOf('/'))}'`);
  });

  it('are not searched in a text mostly in another script', () => {
    for (const text of ['写一首关于春天的诗', 'დაწერე ლექსი', '東京の天気 now', 'مرحبا بالعالم']) {
      expect(isForeign(text), text).to.equal(true);
    }
    for (const text of ['', '12 + 7', 'write a poem', 'напиши стихи', 'translate 你好 to English']) {
      expect(isForeign(text), text).to.equal(false);
    }
    // Half of it is not most of it.
    expect(isForeign('ab你好')).to.equal(false);
    expect(isForeign('a你好')).to.equal(true);
  });
});
