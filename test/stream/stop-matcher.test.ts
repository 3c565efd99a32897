import { expect } from 'chai';
import fc from 'fast-check';
import { StopMatcher } from '../../lib/stream/stop-matcher.ts';
import { itLong, longer } from '../../testkit/long.ts';

interface Ended {
  readonly text: string;
  readonly matched: string | undefined;
}

function run(strings: readonly string[], fragments: readonly string[]): Ended {
  const matcher = new StopMatcher(strings);
  const text = fragments.map((fragment) => matcher.push(fragment)).join('') + matcher.end();
  return { text, matched: matcher.matched };
}

/** The same by looking at the whole text. */
function expected(strings: readonly string[], text: string): Ended {
  const found = strings
    .map((string) => ({ string, at: text.indexOf(string) }))
    .filter(({ at }) => at !== -1)
    .sort((one, other) => one.at - other.at || other.string.length - one.string.length);
  const [first] = found;
  return first ? { text: text.slice(0, first.at), matched: first.string } : { text, matched: undefined };
}

function cut(text: string, places: readonly number[]): string[] {
  const sorted = [
    0,
    ...places.map((place) => place % (text.length + 1)).sort((one, other) => one - other),
    text.length,
  ];
  return sorted.slice(1).map((to, at) => text.slice(sorted[at], to));
}

describe('stop matcher', () => {
  const cases: readonly (readonly [string, readonly string[], readonly string[], Ended])[] = [
    ['no match', ['END'], ['one ', 'two'], { text: 'one two', matched: undefined }],
    ['a match within a fragment', ['END'], ['one END two'], { text: 'one ', matched: 'END' }],
    ['a match across fragments', ['END'], ['one E', 'N', 'D two'], { text: 'one ', matched: 'END' }],
    ['a beginning that is none', ['END'], ['one E', 'N', 'x'], { text: 'one ENx', matched: undefined }],
    ['a beginning at the end', ['END'], ['one EN'], { text: 'one EN', matched: undefined }],
    ['a match at the beginning', ['one'], ['one'], { text: '', matched: 'one' }],
    ['a false start within a match', ['aab'], ['a', 'a', 'a', 'b'], { text: 'a', matched: 'aab' }],
    ['the longest at one place', ['ab', 'abc'], ['xa', 'b', 'c'], { text: 'x', matched: 'abc' }],
    ['the shorter where the longer fails', ['ab', 'abc'], ['xa', 'b', 'd'], { text: 'x', matched: 'ab' }],
    ['the shorter at the end of the text', ['ab', 'abc'], ['xa', 'b'], { text: 'x', matched: 'ab' }],
    ['the one that begins first, though it ends last', ['bc', 'abcd'], ['xab', 'cd'], { text: 'x', matched: 'abcd' }],
    ['one inside another that fails', ['bc', 'abcd'], ['xab', 'cx'], { text: 'xa', matched: 'bc' }],
    ['an emoji whose halves come apart', ['👋'], ['hi \ud83d', '\udc4b there'], { text: 'hi ', matched: '👋' }],
    ['an emoji with the same first half', ['👋'], ['hi \ud83d', '\ude00!'], { text: 'hi 😀!', matched: undefined }],
    ['the same string twice', ['x', 'x'], ['ax'], { text: 'a', matched: 'x' }],
    ['a new line', ['\n\n'], ['a\n', 'b\n', '\nc'], { text: 'a\nb', matched: '\n\n' }],
  ];
  for (const [what, strings, fragments, ended] of cases) {
    it(`finds ${what}`, () => {
      expect(run(strings, fragments)).to.deep.equal(ended);
      expect(expected(strings, fragments.join(''))).to.deep.equal(ended);
    });
  }

  const letters = fc.array(fc.constantFrom('a', 'b', 'c', '👋', '😀'), { maxLength: 60 }).map((list) => list.join(''));
  const strings = fc.array(
    fc.array(fc.constantFrom('a', 'b', 'c', '👋'), { minLength: 1, maxLength: 5 }).map((list) => list.join('')),
    { minLength: 1, maxLength: 5 },
  );

  it('ends any text, cut anywhere, where a search of the whole does', () => {
    fc.assert(
      fc.property(letters, strings, fc.array(fc.nat(), { maxLength: 20 }), (text, stops, places) => {
        expect(run(stops, cut(text, places))).to.deep.equal(expected(stops, text));
      }),
      { numRuns: longer(200, 3000) },
    );
  });

  it('holds back no more than may become a match, and passes on what cannot at once', () => {
    fc.assert(
      fc.property(letters, strings, (text, stops) => {
        const longest = Math.max(...stops.map(({ length }) => length));
        const matcher = new StopMatcher(stops);
        let passed = '';
        for (let at = 0; at < text.length && matcher.matched === undefined; at += 1) {
          passed += matcher.push(text.charAt(at));
          const arrived = text.slice(0, at + 1);
          if (matcher.matched !== undefined) break;
          expect(arrived.startsWith(passed)).to.equal(true);
          const held = arrived.slice(passed.length);
          expect(held.length).to.be.below(2 * longest);
          const begins = stops.some((stop) => stop.startsWith(held) || held.startsWith(stop));
          expect(held === '' || begins, held).to.equal(true);
        }
      }),
    );
  });

  it('takes nothing more after a match', () => {
    const matcher = new StopMatcher(['b']);
    expect([matcher.push('abc'), matcher.push('def'), matcher.end()]).to.deep.equal(['a', '', '']);
  });

  itLong('costs as much for each character, whatever is held back', () => {
    const MEBI = 1024 * 1024;
    const text = 'a'.repeat(MEBI);
    const long = `${'a'.repeat(100_000)}b`;
    const many = Array.from({ length: 16 }, (_, at) => `${'a'.repeat(50_000 + at)}b`);
    const time = (stops: readonly string[], length: number) => {
      const matcher = new StopMatcher(stops);
      // Of the processor: other work on the machine does not count.
      const from = process.cpuUsage();
      let passed = 0;
      for (let at = 0; at < length; at += 1) passed += matcher.push('a').length;
      passed += matcher.end().length;
      expect(passed).to.equal(length);
      const { user, system } = process.cpuUsage(from);
      return (user + system) / 1000;
    };
    for (const stops of [[long], many]) {
      time(stops, MEBI / 8);
      // Ten times what it takes for an eighth of the text, where a square law makes it sixty-four.
      const eighth = Math.min(...[1, 2, 3].map(() => time(stops, MEBI / 8)));
      const whole = Math.min(...longer([1], [1, 2, 3]).map(() => time(stops, MEBI)));
      expect(whole).to.be.below(24 * eighth);
      expect(whole).to.be.below(5000);
    }
    expect(run([long], [text]).text).to.equal(text);
    expect(run([long], [text, 'b']).text).to.have.length(MEBI - 100_000);
  });
});
