import { expect } from 'chai';
import fc from 'fast-check';
import { isFault } from '../../lib/base/faults.ts';
import { checkJsonType, JSON_DEPTH_MAX, JSON_VALUES_MAX, parseJson } from '../../lib/http/json.ts';
import { longer } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';

const parse = (text: string) => parseJson(Buffer.from(text));

function refusalOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (!isFault(error)) throw error;
    expect(error.output.statusCode).to.be.oneOf([400, 415]);
    return error.message;
  }
}
const NOT_JSON = /^The request body is not valid JSON(: it (ends too early|goes wrong at character \d+))?\.$/;

/** Values of a parsed document, itself included. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + countValues(inner), 1);
}

const nested = (depth: number, inner = '') => '['.repeat(depth) + inner + ']'.repeat(depth);

describe('json', () => {
  const places: readonly [text: string, place: string][] = [
    ['{"a":1', 'it ends too early'],
    ['"abc', 'it ends too early'],
    ['[1,]', 'it goes wrong at character 4'],
    ['{"model":"a","messages":[],}', 'it goes wrong at character 28'],
    ["{'a':1}", 'it goes wrong at character 2'],
    ['{"a":1}}', 'it goes wrong at character 8'],
    ['hello', 'it goes wrong at character 1'],
    [`{"a":"${'x'.repeat(5000)}" "b":1}`, 'it goes wrong at character 5009'],
  ];
  for (const [text, place] of places) {
    it(`reports the position of the mistake in ${text.slice(0, 30)}`, () => {
      expect(refusalOf(() => parse(text))).to.equal(`The request body is not valid JSON: ${place}.`);
    });
  }

  it('is not searched for the position of a mistake if it is long', () => {
    const long = `[${'1,'.repeat(8192)}`;
    expect(refusalOf(() => parse(`${long.slice(0, 16_383)}x`))).to.contain('it goes wrong at character 16384');
    expect(refusalOf(() => parse(`${long}x`))).to.equal('The request body is not valid JSON.');
  });

  describe('within its limits equals the result of JSON.parse', () => {
    const tricky = fc.string({
      unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'a', 'я', '👋', '\n', '\u0000', '\u2028'),
    });
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.oneof(tricky, fc.constantFrom(null, true, false, 0, -0.5, 1e300, 2 ** 63)),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(tricky, tie('value'), { maxKeys: 4 }),
      ),
    })).value;

    it('for any value, in any spacing', () => {
      fc.assert(
        fc.property(value, fc.constantFrom('', ' ', '\t', '\r'), (made, space) => {
          const text = JSON.stringify(made, null, '\t').replaceAll('\t', space);
          expect(parse(text)).to.deep.equal(JSON.parse(text));
        }),
        { numRuns: longer(100, 500) },
      );
    });

    it('for strings of any length, with escapes anywhere', () => {
      const piece = fc.oneof(
        fc.constantFrom('"', '\\', '\\"', '[', ','),
        fc.nat(90).map((length) => 'a'.repeat(length)),
      );
      fc.assert(
        fc.property(fc.array(piece), (pieces) => {
          const text = JSON.stringify([pieces.join(''), pieces.join('b'), 1]);
          expect(parse(text)).to.deep.equal(JSON.parse(text));
          expect(refusalOf(() => parse(text.slice(0, -1)))).to.match(NOT_JSON);
        }),
        { numRuns: longer(100, 500) },
      );
    });

    it('for brackets in a string, however many backslashes stand before a quote in it', () => {
      const brackets = '['.repeat(JSON_DEPTH_MAX + 1);
      for (const length of [0, 63, 64, 65, 200]) {
        for (let backslashes = 0; backslashes < 5; backslashes += 1) {
          const text = 'a'.repeat(length) + '\\'.repeat(backslashes);
          const told = JSON.stringify([`${text}"${brackets}`]);
          expect(parse(told), told).to.deep.equal(JSON.parse(told));
          const real = `[${JSON.stringify(text)},${brackets}`;
          expect(
            refusalOf(() => parse(real)),
            real,
          ).to.contain('deeper than');
        }
      }
    });

    it('for any text: the same value, or a refusal if it throws', () => {
      const symbols = fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', '1', ' ', 'null', '"a"', '\\u0022', '-');
      fc.assert(
        fc.property(
          fc.oneof(
            fc.array(symbols, { maxLength: 12 }).map((all) => all.join('')),
            fc.string(),
          ),
          (text) => {
            let wanted: unknown;
            try {
              wanted = JSON.parse(text);
            } catch {
              expect(refusalOf(() => parse(text))).to.match(/^The request body is not valid JSON/);
              return;
            }
            expect(parse(text)).to.deep.equal(wanted);
          },
        ),
        { numRuns: longer(100, 1500) },
      );
    });

    for (const text of [
      '"\\\\"',
      '"\\""',
      '["\\\\\\"]",{"\\\\":"[[["}]',
      '"\\\\\\\\\\""',
      '{"a\\"b":[1]}',
      '"\\u005b"',
    ]) {
      it(`for ${text}`, () => expect(parse(text)).to.deep.equal(JSON.parse(text)));
    }
  });

  describe('depth', () => {
    it(`is limited to ${JSON_DEPTH_MAX}`, () => {
      expect(parse(nested(JSON_DEPTH_MAX))).to.be.an('array');
      const objects = '{"a":'.repeat(JSON_DEPTH_MAX);
      expect(parse(`${objects}1${'}'.repeat(JSON_DEPTH_MAX)}`)).to.be.an('object');
      const message = `The request body is not valid JSON: deeper than ${JSON_DEPTH_MAX} levels.`;
      expect(refusalOf(() => parse(nested(JSON_DEPTH_MAX + 1)))).to.equal(message);
      expect(refusalOf(() => parse(`${objects}{}`))).to.equal(message);
    });

    it('counts open containers only', () => {
      expect(parse(`[${Array(1000).fill('[[]]').join()}]`)).to.have.length(1000);
      expect(parse(JSON.stringify({ text: '['.repeat(1000) }))).to.deep.equal({ text: '['.repeat(1000) });
    });
  });

  describe('values', () => {
    const message = `The request body is not valid JSON: more than ${JSON_VALUES_MAX} values.`;
    const shapes: Readonly<Record<string, (count: number) => string>> = {
      'in an array': (count) =>
        `[${Array(count - 1)
          .fill('1')
          .join()}]`,
      'in spaced arrays': (count) =>
        `[ ${Array(count - 1)
          .fill(' [ ] ')
          .join()} ]`,
      'in an object': (count) => `{${Array.from({ length: count - 1 }, (_, at) => `"${at}":0`).join()}}`,
      'empty objects': (count) =>
        `[${Array(count - 1)
          .fill('{}')
          .join()}]`,
    };
    for (const [name, make] of Object.entries(shapes)) {
      it(`are limited to ${JSON_VALUES_MAX}: ${name}`, () => {
        const most = parse(make(JSON_VALUES_MAX));
        expect(countValues(most)).to.equal(JSON_VALUES_MAX);
        expect(refusalOf(() => parse(make(JSON_VALUES_MAX + 1)))).to.equal(message);
      });
    }

    it('are counted exactly in any mixture', () => {
      // Three for each pair, one for the array around them and one for what is left.
      const pairs = Array((JSON_VALUES_MAX - 2) / 3).fill('[{"a":0}]');
      const text = `[${[...pairs, 1].join()}]`;
      expect(countValues(parse(text))).to.equal(JSON_VALUES_MAX);
      expect(refusalOf(() => parse(`[1,${text.slice(1)}`))).to.equal(message);
    });

    it('are not counted inside strings', () => {
      const text = ',:[]{}'.repeat(JSON_VALUES_MAX);
      expect(parse(JSON.stringify([text, `\\"${text}`]))).to.deep.equal([text, `\\"${text}`]);
    });
  });

  describe('bytes', () => {
    it('may start with one byte order mark', () => {
      expect(parse('\ufeff{"a":1}')).to.deep.equal({ a: 1 });
      expect(refusalOf(() => parse('\ufeff\ufeff{}'))).to.match(NOT_JSON);
      expect(refusalOf(() => parse('{\ufeff}'))).to.match(NOT_JSON);
      expect(refusalOf(() => parse('\ufeff'))).to.match(NOT_JSON);
    });

    it('must not be empty', () => {
      expect(refusalOf(() => parseJson(Buffer.alloc(0)))).to.equal('The request body is not valid JSON: it is empty.');
      expect(refusalOf(() => parse('  \n'))).to.match(NOT_JSON);
    });

    it('must be UTF-8', () => {
      const message = 'The request body is not valid JSON: it is not UTF-8.';
      for (const hex of ['22ff22', '22c322', '22eda08022', '22f09f9122', 'fffe5b005d00']) {
        expect(refusalOf(() => parseJson(Buffer.from(hex, 'hex')))).to.equal(message);
      }
    });

    it('read halves of characters as U+FFFD, in names too', () => {
      expect(parse('"\\ud83d"')).to.equal('\ufffd');
      expect(parse('{"\\udc4b\\ud83d":"\\ud83d\\udc4b"}')).to.deep.equal({ '\ufffd\ufffd': '\ud83d\udc4b' });
    });

    it('keep every digit of their numbers where they are written again', () => {
      const text = '{"input":{"id":2512292042121000001,"list":[1,12345678901234567890.5,1e400]}}';
      const { input } = parse(text) as { readonly input: object };
      expect(JSON.stringify(input)).to.equal(text.slice('{"input":'.length, -1));
    });
  });

  it('drops keys that would change a prototype, at any depth, and keeps the rest', () => {
    const text =
      '{"__proto__":{"a":1},"b":[{"\\u005f_proto__":7,"c":{"__pro\\u0074o__":null,"d":1}}],"constructor":{"prototype":2}}';
    const value = parse(text) as Record<string, unknown>;
    expect(JSON.stringify(value)).to.equal('{"b":[{"c":{"d":1}}],"constructor":{"prototype":2}}');
    expect(Object.getPrototypeOf(value)).to.equal(Object.prototype);
    expect(value.a).to.equal(undefined);
    expect(parse('{"text":"\\"__proto__\\":1"}')).to.deep.equal({ text: '"__proto__":1' });
  });

  for (const text of [
    '{',
    '}',
    '[1,]',
    "{'a':1}",
    '{a:1}',
    'undefined',
    'NaN',
    '01',
    '"a',
    '"\n"',
    '[1]]',
    '{}{}',
    '//',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(refusalOf(() => parse(text))).to.match(NOT_JSON));
  }

  it('never repeats the body', () => {
    expect(refusalOf(() => parse('{"key": tg-sk-secret}'))).to.match(NOT_JSON);
  });

  describe('of 48 MiB', function () {
    this.timeout(30_000);
    const bytes = 48 * 1024 * 1024;
    const filled = (text: string) => Buffer.alloc(bytes, text);
    const around = (open: string, body: Buffer, close: string) =>
      Buffer.concat([Buffer.from(open), body.subarray(open.length + close.length), Buffer.from(close)]);

    const some = <T>(all: Readonly<Record<string, T>>) =>
      Object.entries(all).filter((_, at) => longer(at % 8 === 0, true));

    /** Milliseconds of work to a refusal, or to a value; the clock would count what others do on the machine. */
    function time(body: Buffer, refused: boolean): number {
      const before = process.cpuUsage();
      const refusal = refusalOf(() => parseJson(body));
      const { user, system } = process.cpuUsage(before);
      expect(refusal !== undefined).to.equal(refused);
      return (user + system) / 1000;
    }

    const attacks: Readonly<Record<string, () => Buffer>> = {
      'open arrays': () => filled('['),
      'open objects': () => filled('{"a":'),
      'empty arrays': () => around('[', filled('[],'), '1]'),
      'empty objects': () => around('[', filled('{},'), '1]'),
      commas: () => filled(','),
      numbers: () => around('[', filled('1,'), '1]'),
      strings: () => around('[', filled('"",'), '1]'),
      members: () => around('{', filled('"a":1,'), '"b":1}'),
      'closed arrays': () => filled('[]'),
      quotes: () => filled('"'),
      'a string without an end': () => around('["', filled('\\"'), '\\"'),
      'a string of backslashes without an end': () => around('"', filled('\\'), '\\'),
      nothing: () => filled(' '),
    };
    for (const [name, make] of some(attacks).slice(0, longer(1, Infinity))) {
      itTimed(`is refused quickly: ${name}`, () => expect(time(make(), true)).to.be.below(1500));
    }

    const values: Readonly<Record<string, () => Buffer>> = {
      'one string': () => around('["', filled('a'), '"]'),
      'one string of escaped quotes': () => around('["', filled('\\"'), '"]'),
      'one string of escaped backslashes': () => around('["', filled('\\\\'), '"]'),
      'one string of escapes': () => around('["', filled('\\u0041\\n'), '"]'),
      'one number': () => around('[', filled('1'), ']'),
      'one small number': () => around('[0.', filled('0'), '1]'),
      spaces: () => around('[', filled(' '), ']'),
    };
    for (const [name, make] of some(values)) {
      itTimed(`is read quickly: ${name}`, () => expect(time(make(), false)).to.be.below(3000));
    }
  });

  describe('content type', () => {
    for (const type of [
      undefined,
      '',
      ' ',
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/json;',
      ' application/json ; a=b',
      'application/vnd.api+json',
    ]) {
      it(`accepts ${type}`, () => checkJsonType(type));
    }
    for (const type of [
      'text/plain',
      'application/jsonp',
      'application/x-www-form-urlencoded',
      '+json',
      'application/+x',
      ';',
    ]) {
      it(`refuses ${type}`, () => {
        expect(refusalOf(() => checkJsonType(type)))
          .to.contain('content-type')
          .and.not.to.contain(type);
      });
    }
  });
});
