// The lenient decoder and the writer behind it: every form a stream of JSON comes in, however it is cut.
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import fc from 'fast-check';
import { Guard } from '../../../lib/stream/guard.ts';
import type { ToolPiece } from '../../../lib/upstream/contract/answer.ts';
import type { AnswerReader, AnswerWriter, JsonObject, ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';
import { LenientAnswer } from '../../../lib/upstream/host/lenient-answer.ts';
import { expectLinear } from '../../../testkit/growth.ts';
import { longer } from '../../../testkit/long.ts';

const fault = createHostFault({ secrets: [] });

interface Told extends JsonObject {
  readonly text?: string;
  readonly block?: number;
  readonly tool?: ToolPiece;
  readonly usage?: object;
  readonly stop?: string;
  readonly done?: string;
  readonly boom?: string;
}

/** Does what the values say, and notes the names of their events. */
class Teller implements AnswerReader {
  readonly events: string[] = [];

  take(
    { text, block, tool, usage, stop, done, boom, ...names }: Told,
    out: AnswerWriter,
    eventName: () => string,
  ): void {
    this.events.push(eventName());
    out.start(names);
    if (text !== undefined) out.text(text, block);
    if (tool) out.tool(tool);
    if (usage) out.usage(usage);
    if (stop !== undefined) out.finish('stop', stop);
    if (done !== undefined) out.done(done);
    if (boom !== undefined) throw new Error(boom);
  }
}

interface Read {
  readonly text: string;
  readonly parts: readonly ProviderPart[];
  readonly finish: string | undefined;
  readonly error: unknown;
  readonly done: boolean;
  readonly events: readonly string[];
}

function read(body: string | Buffer, size = Number.POSITIVE_INFINITY): Read {
  const reader = new Teller();
  const answer = new LenientAnswer({ reader, fault });
  const bytes = Buffer.from(body);
  const parts: ProviderPart[] = [];
  for (let at = 0; at < bytes.length && !answer.done; at += size) answer.push(bytes.subarray(at, at + size), parts);
  if (!answer.done) answer.end(parts);
  return summarise(parts, answer, reader);
}

function summarise(parts: readonly ProviderPart[], { error, done }: LenientAnswer, { events }: Teller): Read {
  const text = parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
  const finish = parts.find((part) => part.type === 'finish')?.raw;
  return { text, parts, finish, error, done, events };
}

const data = (value: object, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`;
const types = (parts: readonly ProviderPart[]) => parts.map(({ type }) => type).join(' ');

describe('an answer without a named framing', () => {
  const whole: readonly (readonly [what: string, body: string, text: string, finish?: string])[] = [
    ['events', data({ text: 'a' }) + data({ text: 'b', stop: 's' }), 'ab', 's'],
    [
      'events with CRLF, comments, ids and names',
      ': hi\r\nid: 1\r\nretry: 5\r\nevent: x\r\ndata: {"text":"a"}\r\n\r\n',
      'a',
    ],
    ['data without a space, padded data', 'data:{"text":"a"}\n\ndata:   {"text":"b"}  \n\n', 'ab'],
    [
      'events within the data of events',
      'data: data: {"text":"a"}\ndata:\ndata:\n\ndata:data:data: {"text":"b"}\n\ndata: data: [DONE]\n\n',
      'ab',
      '[DONE]',
    ],
    ['an event in several lines', 'data: {"text":\ndata: "a"}\n\n', 'a'],
    ['a value a line', '{"text":"a"}\n{"text":"b"}\n', 'ab'],
    ['one document', '{"text":"a","stop":"s"}', 'a', 's'],
    ['one document in several lines', '{\n  "text": "a",\n  "stop": "s"\n}\n', 'a', 's'],
    ['a document whose last line is indented', '{\n  "text": "a",\n  "stop": "s"\n  }', 'a', 's'],
    ['a list whose last line is indented', ' [\n  {"text": "a"},\n  {"text": "b"}\n ]\n', 'ab'],
    ['a list in several lines before an event', `[\n {"text":"a"}\n]\n${data({ text: 'b' })}`, 'ab'],
    ['a list of values', '[{"text":"a"},\n{"text":"b"}\n]', 'ab'],
    ['a list on a line', '[{"text":"a"},{"text":"b"}]', 'ab'],
    ['the end mark as it stands', `${data({ text: 'a' })}data: [DONE]\n\n${data({ text: 'b' })}`, 'a', '[DONE]'],
    ['the end mark in quotes', `${data({ text: 'a' })}data: "[DONE]"\n`, 'a', '[DONE]'],
    ['the end mark between blanks', `${data({ text: 'a' })}data:  [DONE] \n\n${data({ text: 'b' })}`, 'a', '[DONE]'],
    ['an event in several lines after a heartbeat', `event: ping\ndata: {}\n\ndata: {"text":\ndata: "a"}\n\n`, 'a'],
    ['a last event without its blank line', 'data: {"text":"a"}', 'a'],
    [
      'heartbeats',
      `event: ping\ndata: {"text":"x"}\n\n${data({ text: 'a' })}event: keep-alive\ndata: no json\n\n`,
      'a',
    ],
    [
      'heartbeats without data',
      `event: ping\n\n${data({ text: 'a' })}event: heartbeat\r\n\r\n${data({ text: 'b' })}`,
      'ab',
    ],
    [
      'heartbeats with data in several lines',
      `event: ping\ndata: {\ndata:   "type": "ping"\ndata: }\n\n${data({ text: 'a' })}event: ping\ndata: 1\ndata: x y\r\n\n${data({ text: 'b' })}`,
      'ab',
    ],
    [
      'heartbeats without an empty line behind them',
      `event: ping\ndata: {}\n${data({ text: 'a' })}event: ping\ndata: {}\nevent: x\n${data({ text: 'b' })}`,
      'ab',
    ],
    ['data behind blanks or another mark', ` ${data({ text: 'a' })}\ufeff${data({ text: 'b' })}`, 'ab'],
    [
      'numbers that only Python writes, but for those in texts',
      'data: {"text":"NaN, ","x":NaN,"y":[-Infinity,Infinity]}\n\n{"text":"\\"Infinity","x":NaN,\n"stop":"s"}\n',
      'NaN, "Infinity',
      's',
    ],
    ['one such number alone', 'data: {"text":"a","x":-Infinity}\n\ndata: {"text":"b","x":NaN}\n\n', 'ab'],
    ['what is no object', `data: 7\n\ndata: null\n\ndata: "x"\n\n${data({ text: 'a' })}`, 'a'],
    ['a cut last event', `${data({ text: 'a' })}data: {"te`, 'a'],
    ['words between the events', `${data({ text: 'a' })}hello\n${data({ text: 'b' })}`, 'ab'],
    ['nothing but white space', '\n \n\t\n', ''],
    ['nothing but comments and fields of events', ': hi\nretry: 5\nid: 1\n\n', ''],
    ['nothing', '', ''],
  ];
  for (const [what, body, text, finish] of whole) {
    it(`read ${what}, however it is cut`, () => {
      for (const size of [Number.POSITIVE_INFINITY, 1, 2, 3, 7]) {
        const found = read(body, size);
        expect([found.text, found.finish, found.error], `pieces of ${size}`).to.deep.equal([text, finish, undefined]);
      }
    });
  }

  const failing: readonly (readonly [what: string, body: string, text: string, kind: string])[] = [
    ['a page', '<html>\n<p>no</p>\n', '', 'protocol'],
    ['rubbish before an event', `data: {"te\n\n${data({ text: 'a' })}`, '', 'protocol'],
    ['rubbish after text', `${data({ text: 'a' })}data: oops\n\n${data({ text: 'b' })}`, 'a', 'protocol'],
    ['rubbish before the end mark', `${data({ text: 'a' })}data: oops\n\ndata: [DONE]\n\n`, 'a', 'protocol'],
    ['an event named error', data({ text: 'a' }) + data({ message: 'busy', code: 429 }, 'error'), 'a', 'rate'],
    ['an event named error before its end mark', `${data({ text: 'a' })}event: error\ndata: [DONE]\n\n`, 'a', 'server'],
    ['an event named error without data', `${data({ text: 'a' })}event: error\n\ndata: [DONE]\n\n`, 'a', 'server'],
    ['a field named error', `${data({ text: 'a' })}error: {"code":503,"message":"x"}\n`, 'a', 'overloaded'],
    ['a field named error with words', 'error: quota_exceeded, busy\n', '', 'server'],
  ];
  for (const [what, body, text, kind] of failing) {
    it(`fail at ${what}, with the text before it`, () => {
      for (const size of [Number.POSITIVE_INFINITY, 1, 5]) {
        const found = read(body, size);
        expect(found.text).to.equal(text);
        expect(found.error).to.include({ name: 'UpstreamFault', kind });
      }
    });
  }

  it('pass over heartbeats of any name, whatever they bring', () => {
    for (const name of ['ping', 'heartbeat', 'keep-alive', 'keepalive']) {
      const { text, finish, error } = read(
        `${data({ text: 'a' })}event: ${name}\ndata: no json\n\n${data({ text: 'b', done: 'end' })}`,
      );
      expect([text, finish, error], name).to.deep.equal(['ab', 'end', undefined]);
    }
  });

  it('tell the operator how a body begins that is none of this', () => {
    const { error } = read('<html>\n<p>no</p>\n');
    expect((error as Error).message).to.contain('<html> <p>no</p>');
    const words = 'no such page. '.repeat(50);
    const long = (read(words).error as Error).message;
    expect(long).to.contain(words.slice(0, 150)).and.not.to.contain(words.slice(0, 210));
  });

  it('read the same of events that are alike, whether they arrive one by one or together', () => {
    const event = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('a', '', 'b c', '"', '\n').map((text) => data({ text })) },
      fc.constantFrom(
        'data: oops\n\n',
        'data: {"te\n\n',
        'data: \n\n',
        'data:{"text":"close"}\n\n',
        'data: {"text":"padded"} \n\n',
        'data: {"text":"cut"\n\n',
        'data: {"text":"longer"}}\n\n',
        'event: ping\n\n',
        'event: error\n',
        'event: name\n',
        'data: [DONE]\n\n',
        data({ text: 'named' }, 'name'),
        data({ text: 'last', stop: 's' }),
        data({ usage: { output: 3 } }),
        data({ boom: 'x' }),
        data({ done: 'd' }),
      ),
    );
    const begin = ['one', 'two', 'three'].map((text) => data({ text })).join('');
    const run = (events: readonly string[]) => {
      const body = begin + events.join('');
      const seen = ({ error, ...found }: Read) => ({ ...found, error: String(error) });
      expect(seen(read(body))).to.deep.equal(seen(read(body, 1)));
    };
    fc.assert(fc.property(fc.array(event, { maxLength: 12 }), run), { numRuns: longer(150, 2000) });
  });

  it('go on behind an event that fails an answer which is already finished', () => {
    const reader = new Teller();
    const answer = new LenientAnswer({ reader, fault });
    const parts: ProviderPart[] = [];
    const booms = ['x', 'y', 'z'].map((boom) => data({ boom })).join('');
    answer.push(Buffer.from(data({ text: 'a' }) + data({ stop: 's' }) + booms + booms), parts);
    expect(reader.events).to.have.length(8);
  });

  it('tell the reader the name of the event, once', () => {
    expect(read(data({}, 'one') + data({}) + data({}, 'two.of.a.long.name')).events).to.deep.equal([
      'one',
      '',
      'two.of.a.long.name',
    ]);
  });

  it('go on after a finish, whatever else comes', () => {
    const late = `data: oops\n\n${data({ boom: 'x' })}${data({ message: 'e' }, 'error')}${data({ text: 'b' })}`;
    const { parts, error } = read(data({ text: 'a' }) + data({ stop: 's' }) + late + data({ usage: { output: 3 } }));
    expect(error).to.equal(undefined);
    const after = 'block-start block-delta usage';
    expect(types(parts)).to.equal(`start block-start block-delta block-end finish ${after} block-end`);
  });

  it('let a reason decide when the reader throws after it', () => {
    const { finish, error, done } = read(data({ text: 'a', stop: 's' }) + data({ boom: 'x' }) + data({ text: 'b' }));
    expect([finish, error, done]).to.deep.equal(['s', undefined, false]);
    expect(read(data({ text: 'a' }) + data({ boom: 'x' })).error).to.have.property('message', 'x');
  });

  const VALUES: readonly (readonly [what: string, line: (at: number) => string])[] = [
    ['data that never ends', () => 'data: {"a":\n'],
    ['data that may end with each line', (at) => (at === 0 ? 'data: {"a":[1\n' : 'data: ,[]\n')],
    ['a document that may end with each line', (at) => (at === 0 ? '[[1\n' : '],[1\n')],
  ];
  for (const [what, line] of VALUES) {
    it(`take time in proportion to the lines of ${what}`, () => {
      expectLinear((lines) => {
        const bytes = Buffer.from(Array.from({ length: lines }, (_, at) => line(at)).join(''));
        const answer = new LenientAnswer({ reader: new Teller(), fault });
        return () => answer.push(bytes, []);
      }, 3_000);
    });
  }

  it('give up a value in pieces that never ends, and a line above the limit', () => {
    const answer = new LenientAnswer({ reader: new Teller(), fault, eventCharsMax: 1000 });
    const parts: ProviderPart[] = [];
    for (let at = 0; at < 9 && !answer.done; at += 1) answer.push(Buffer.from(`data: "${'x'.repeat(900)}\n`), parts);
    expect(answer.error).to.include({ kind: 'protocol' });
    const document = new LenientAnswer({ reader: new Teller(), fault, eventCharsMax: 1000 });
    document.push(Buffer.from('{\n'), parts);
    for (let at = 0; at < 9 && !document.done; at += 1)
      document.push(Buffer.from(`"a": "${'x'.repeat(900)}",\n`), parts);
    expect(document.error).to.include({ kind: 'protocol' });
    const long = new LenientAnswer({ reader: new Teller(), fault, eventCharsMax: 1000 });
    long.push(Buffer.from(`data: "${'x'.repeat(2000)}`), parts);
    expect(long.failure).to.be.an('error');
  });
});

describe('writer of an answer', () => {
  const cases: readonly (readonly [what: string, values: readonly Told[], parts: string])[] = [
    [
      'writes what comes after a finish',
      [
        { text: 'a' },
        { stop: 's' },
        { tool: { block: 1, id: 'x', name: 'n', json: '{}', done: true } },
        { text: 'b' },
        { done: 'd' },
      ],
      'start block-start block-delta block-end finish block-start block-delta block-end block-start block-delta block-end',
    ],
    ['opens nothing without text', [{ id: 'a' }, { text: '' }], ''],
    [
      'starts once, with the first names',
      [{ id: 'a' }, { id: 'b', text: 'x' }, { text: 'y' }],
      'start block-start block-delta block-delta',
    ],
    [
      'says a reason at once, after the end of the text',
      [{ text: 'x' }, { stop: 's' }],
      'start block-start block-delta block-end finish',
    ],
    [
      'says a reason that comes before any text',
      [{ stop: 's' }, { text: 'x' }],
      'start finish block-start block-delta block-end',
    ],
    [
      'says every reason, and counts between them',
      [{ text: 'x', stop: 's' }, { usage: { output: 2 } }, { stop: 't' }],
      'start block-start block-delta block-end finish usage finish',
    ],
    [
      'begins a block for each name',
      [
        { text: 'x', block: 1 },
        { text: 'y', block: 1 },
        { text: 'z', block: 4 },
      ],
      'start block-start block-delta block-delta block-end block-start block-delta',
    ],
    [
      'takes the end mark for a reason after text',
      [{ text: 'x' }, { done: 'd' }],
      'start block-start block-delta block-end finish',
    ],
    ['takes the end mark for nothing without text', [{ done: 'd' }], ''],
    [
      'reports counts only when they change',
      [{ usage: { input: 3 } }, { usage: { input: 3 } }, { usage: { input: '4' } }],
      'usage usage',
    ],
    [
      'passes over counts that are none, and zeros alone',
      [{ usage: { input: 0, output: -1 } }, { usage: { input: Number.NaN, output: 'many' } }],
      '',
    ],
  ];
  for (const [what, values, parts] of cases) {
    it(what, () => expect(types(read(values.map((value) => data(value)).join('')).parts)).to.equal(parts));
  }

  it('names the answer by texts only', () => {
    const { parts } = read(data({ id: 7, model: '' }) + data({ id: 'a', model: 'm', text: 'x' }));
    expect(parts[0]).to.deep.equal({ type: 'start', id: 'a', model: 'm' });
    const renamed = read(data({ id: 'a', model: 'm' }) + data({ id: 'b', model: 'n', text: 'x' })).parts;
    expect(renamed[0]).to.deep.equal({ type: 'start', id: 'a', model: 'm' });
  });

  it('joins the halves of a character, and replaces one that stays alone', () => {
    const high = '\ud83d';
    const low = '\ude00';
    const texts = (...all: readonly Told[]) => read(all.map((value) => data(value)).join('')).text;
    expect(texts({ text: `a${high}` }, { text: low }, { text: high }, { text: `${low}b` })).to.equal('a😀😀b');
    expect(texts({ text: high }, { text: 'x', stop: 's' })).to.equal('\ufffdx');
    expect(texts({ text: `x${high}` }, { stop: 's' })).to.equal('x\ufffd');
    expect(texts({ text: high, block: 0 }, { text: 'y', block: 1 })).to.equal('\ufffdy');
    expect(texts({ text: low }, { text: `${low}b` }, { text: high }, { text: 'c' })).to.equal('\ufffd\ufffdb\ufffdc');
  });

  it('keeps fragments apart, however many arrive at once', () => {
    const words = Array.from({ length: 500 }, (_, at) => `w${at} `);
    const { parts } = read(words.map((text) => data({ text })).join(''));
    expect(parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []))).to.deep.equal(words);
  });

  it('obeys the grammar whatever it is told, and never writes half a character', () => {
    const told = fc.record(
      {
        text: fc.constantFrom('', 'a', '\ud83d', '\ude00', '😀'),
        block: fc.constantFrom(0, 1),
        usage: fc.record({ input: fc.constantFrom(1, 2), output: fc.constantFrom(1, 'x') }),
        stop: fc.constant('s'),
        done: fc.constant('d'),
        boom: fc.constant('boom'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(told, { maxLength: 8 }), (values) => {
        const { parts, error } = read(values.map((value) => data(value as Told)).join(''));
        for (const part of parts) if (part.type === 'block-delta') expect(part.text.isWellFormed()).to.equal(true);
        const guard = new Guard();
        const passed = guard.push(parts);
        expect(passed.some(({ type }) => type === 'error')).to.equal(false);
        expect(error === undefined || !guard.finished).to.equal(true);
      }),
      { numRuns: longer(150, 2000) },
    );
  });

  it('says what a field named error says', () => {
    expect(read('error: quite busy \n').error).to.include({ kind: 'server', detail: 'quite busy' });
    expect(read('error: {"message":"quite busy"}\n').error).to.include({ detail: 'quite busy' });
  });
});
