import { expect } from 'chai';
import fc from 'fast-check';
import { TemplateJsonParser } from '../../../lib/upstream/host/json-template-parser.ts';
import { ANY_CHARACTER } from '../../../testkit/code-points.ts';

/** Has read as many texts as it takes as they are, less one. */
function warmParser(): TemplateJsonParser {
  const parser = new TemplateJsonParser();
  for (let left = 5; left > 0; left -= 1) parser.parse('{}', 0, 2);
  return parser;
}

/** As an answer's events stand in the text of a read. */
function parseAll(texts: readonly string[], parser = warmParser()): unknown[] {
  const all = texts.map((text) => `data: ${text}\n\n`).join('');
  let at = 0;
  return texts.map((text) => {
    const start = all.indexOf(text, at);
    at = start + text.length;
    try {
      return structuredClone(parser.parse(all, start, at));
    } catch (error) {
      return (error as Error).name;
    }
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return (error as Error).name;
  }
}

const event = (content: string, more: object = {}) =>
  JSON.stringify({
    id: 'c',
    object: 'chunk',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
    ...more,
  });

describe('parser of texts that are alike', () => {
  const contents = [
    'token',
    '',
    ' ',
    'a "quote"',
    'back\\slash',
    'line\nfeed',
    'слово',
    '😀',
    'c',
    'chunk',
    '\\',
    '"',
    '"}',
    ':',
    ',',
    ': ',
    '":"',
  ];
  const long = ['a fragment of more than twelve characters', 'одно длинное предложение'];

  it('gives what JSON.parse gives, whatever the strings are', () => {
    const texts = [...contents, ...long, ...contents].map((content) => event(content));
    expect(parseAll(texts)).to.deep.equal(texts.map(parsed));
  });

  it('takes strings that stand between strings as well', () => {
    for (const content of [':', ',', '{', '}', '[', ']', '":"', ',"']) {
      const texts = ['So', content, 'as', content].map((each) => event(each));
      expect(parseAll(texts), content).to.deep.equal(texts.map(parsed));
    }
  });

  it('gives the same object for fragments, and a new one for everything else', () => {
    const parser = warmParser();
    const give = (text: string) => parser.parse(text, 0, text.length);
    give(event('one'));
    give(event('two'));
    const frame = give(event('three'));
    expect(give(event('four'))).to.equal(frame);
    expect(frame).to.deep.equal(parsed(event('four')));
    const end = event('', { usage: { total_tokens: 3 } });
    expect(give(end)).to.not.equal(frame);
    expect(give(event('five'))).to.equal(frame);
  });

  it('gives the same object whatever its strings need: escapes, a copy, or neither', () => {
    const parser = warmParser();
    const give = (text: string) => parser.parse(text, 0, text.length);
    const [frame] = ['one', 'two', 'three'].map((content) => give(event(content))).slice(2);
    for (const content of [...contents, ...long]) {
      expect(give(event(content)), content).to.equal(frame);
      expect(frame, content).to.deep.equal(parsed(event(content)));
    }
  });

  for (const strings of [1, 2, 3, 4]) {
    it(`gives ${strings > 3 ? 'new objects' : 'the same object'} where ${strings} strings differ`, () => {
      const parser = warmParser();
      const given = ['p', 'q', 'r', 's'].map((letter) => {
        const names = Array.from({ length: strings }, (_, at) => [`name${at}`, `${letter}${at}`]);
        const text = JSON.stringify(Object.fromEntries(names));
        return parser.parse(text, 0, text.length);
      });
      expect(given[3] === given[2]).to.equal(strings <= 3);
      expect(given[3]).to.have.property(`name${strings - 1}`, `s${strings - 1}`);
    });
  }

  it('follows only whole lines that are like the ones before', () => {
    const parser = warmParser();
    const follow = (text: string) => parser.follow(text, 1);
    expect([follow(` ${event('none yet')}\n`), parser.value]).to.deep.equal([-1, undefined]);
    for (const content of ['one', 'two', 'three']) parser.parse(event(content), 0, event(content).length);
    const line = ` ${event('four')}`;
    expect(follow(`${line}\nmore`)).to.equal(line.length);
    expect(parser.value).to.deep.equal(parsed(event('four')));
    for (const end of ['', '\r\n', ' \n', ',']) expect(follow(line + end), JSON.stringify(end)).to.equal(-1);
    expect(follow(`${event('unlike', { usage: 1 })}\n`)).to.equal(-1);
  });

  it('learns from the seventh text on: short answers are not worth it', () => {
    const parser = new TemplateJsonParser();
    const given = Array.from('abcdefghi', (content) => {
      const text = event(content);
      return parser.parse(text, 0, text.length);
    });
    expect(given.map((value) => given.indexOf(value))).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 7]);
  });

  it('lets several strings differ, in any white space and order', () => {
    const texts = contents.map(
      (content, index) => `{ "b" : ${JSON.stringify(content)}, "n": 1, "a": "${index}" , "2": "x${index % 2}" }`,
    );
    expect(parseAll(texts)).to.deep.equal(texts.map(parsed));
  });

  it('keeps to JSON where a string goes wrong', () => {
    const good = [event('one'), event('two'), event('three')];
    const frame = event('|');
    const [head = '', tail = ''] = frame.split('|');
    const bad = ['\t', 'a\u0001', '\\', '\\x', 'a" "b', '"', '\\u12'].map((content) => head + content + tail);
    const cut = [head, `${head}one`, frame.slice(0, -1), `${frame}}`, '', '[]', '"text"', '1', 'null'];
    const texts = [...good, ...bad, ...cut, ...good].filter((text) => text !== '');
    expect(parseAll(texts)).to.deep.equal(texts.map(parsed));
  });

  it('is not misled by keys that come twice, or by numbers that differ', () => {
    const twice = ['a', 'b', 'a', 'c'].map((content) => `{"t":"${content}","t":"last"}`);
    const once = ['a', 'b', 'a', 'c'].map((content) => `{"t":"first","t":"${content}"}`);
    const numbers = [1, 2, 3, 3, 3, 4].map((count) => event('same', { usage: { count } }));
    for (const texts of [twice, once, numbers, [...numbers, ...twice]]) {
      expect(parseAll(texts)).to.deep.equal(texts.map(parsed));
    }
  });

  it('agrees with JSON.parse on random events', () => {
    const value = fc.record({
      type: fc.constantFrom('delta', 'ping'),
      delta: fc.record({ text: fc.string({ unit: ANY_CHARACTER, maxLength: 20 }) }),
      index: fc.constantFrom(0, 0, 0, 1),
      pad: fc.constantFrom('', 'x', 'delta'),
    });
    const run = (values: readonly object[], indent: number) => {
      const texts = values.map((each) => JSON.stringify(each, null, indent).replaceAll('\n', ' '));
      expect(parseAll(texts)).to.deep.equal(texts.map(parsed));
    };
    fc.assert(fc.property(fc.array(value, { minLength: 4, maxLength: 40 }), fc.constantFrom(0, 1), run));
  });
});
