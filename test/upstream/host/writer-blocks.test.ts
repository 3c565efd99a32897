// The blocks of an answer: what opens and ends each of them, and what each fragment becomes.
import { expect } from 'chai';
import type { ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { Writer } from '../../../lib/upstream/host/writer.ts';

/** `+0 text` opens a block, `0 a` is text in it, `-0` ends it. */
function show(part: ProviderPart): string {
  switch (part.type) {
    case 'block-start': {
      const { type, ...more } = part.block;
      return [`+${part.index} ${type}`, ...Object.entries(more).map(([name, value]) => `${name}=${value}`)].join(' ');
    }
    case 'block-delta':
      return `${part.index} ${part.text}`;
    case 'block-state':
      return `${part.index} state ${part.state.format}:${part.state.value}`;
    case 'block-citation':
      return `${part.index} cites ${part.citation.url}`;
    case 'block-end':
      return `-${part.index}`;
    case 'finish':
      return `${part.reason} ${part.raw}`;
    default:
      return part.type;
  }
}

/** What one script writes, without the start. */
function written(write: (out: Writer) => void): readonly string[] {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  write(out);
  return parts.filter(({ type }) => type !== 'start').map(show);
}

const call = { block: 'c', id: 'i', name: 'f' };
const whole = (out: Writer) => out.tool({ ...call, json: '{"a":1}' });
const CALL = ['+0 tool id=i name=f', '0 {"a":1}'];
const page = { url: 'https://a.example' };

type Row = readonly [what: string, write: (out: Writer) => void, parts: readonly string[]];

const ENDED: readonly Row[] = [
  ['a text of another name', (out) => out.text('b', 1), ['-0', '+1 text', '1 b']],
  ['a refusal', (out) => out.refusal('b'), ['-0', '+1 text refusal=true', '1 b']],
  ['reasoning', (out) => out.reasoning('b'), ['-0', '+1 reasoning', '1 b']],
  ['reasoning that is hidden', (out) => out.reasoning('', 1, { redacted: true }), ['-0', '+1 reasoning redacted=true']],
  ['a state', (out) => out.state({ format: 'f', value: 'v' }), ['-0', '+1 reasoning', '1 state f:v']],
  ['a call', (out) => out.tool({ block: 9, id: 'x', name: 'g', json: '{' }), ['-0', '+1 tool id=x name=g', '1 {']],
  ['an image', (out) => out.image({ base64: 'x' }), ['-0', 'image']],
  ['the reason to end', (out) => out.finish('stop', 's'), ['-0', 'stop s']],
  ['the end', (out) => out.done('[DONE]'), ['-0', 'stop [DONE]']],
];

const FRAGMENTS: readonly Row[] = [
  ['texts of one name are one', (out) => ['a', 'b'].map((text) => out.text(text, 5)), ['+0 text', '0 a', '0 b']],
  [
    'reasoning of one name is one',
    (out) => {
      out.reasoning('a', 5);
      out.state({ format: 'f', value: 'v' }, 5);
      out.reasoning('b', 5);
    },
    ['+0 reasoning', '0 a', '0 state f:v', '0 b'],
  ],
  [
    'a text and reasoning of the same name are two',
    (out) => {
      out.text('a', 5);
      out.reasoning('b', 5);
      out.text('c', 5);
    },
    ['+0 text', '0 a', '-0', '+1 reasoning', '1 b', '-1', '+2 text', '2 c'],
  ],
  [
    'a cited text opens empty, in its phase',
    (out) => out.text('', 5, { cited: true, phase: 'answer' }),
    ['+0 text cited=true phase=answer'],
  ],
  ['a sign of life is none of a block', (out) => out.alive(), ['alive']],
  [
    'an end of its name ends a text, and no other does',
    (out) => {
      out.text('a', 5);
      out.end(6);
      out.text('b', 5);
      out.end(5);
      out.end(5);
    },
    ['+0 text', '0 a', '0 b', '-0'],
  ],
  [
    'an end of its name ends a call, complete or not',
    (out) => {
      out.tool({ ...call, json: '{' });
      out.end('c');
      out.tool({ ...call, json: 'late' });
    },
    ['+0 tool id=i name=f', '0 {', '-0'],
  ],
  [
    'a call keeps the state that came before its name',
    (out) => {
      out.tool({ block: 'c', state: 's' });
      out.tool(call);
    },
    ['+0 tool id=i name=f', '0 state plugin:s'],
  ],
  [
    'a call keeps a state in its format',
    (out) => out.tool({ ...call, state: { format: 'f', value: 'v' } }),
    ['+0 tool id=i name=f', '0 state f:v'],
  ],
  [
    'a call has no state without a format or a value',
    (out) => {
      for (const state of ['', null, 5, {}, { format: 'f' }, { value: 'v' }]) out.tool({ block: 'c', state });
      out.tool(call);
    },
    ['+0 tool id=i name=f'],
  ],
];

const CITED: readonly Row[] = [
  ['before any text is lost', (out) => out.cite(page), []],
  [
    'within a thought is lost',
    (out) => {
      out.reasoning('hm', 4);
      out.cite(page, 4);
    },
    ['+0 reasoning', '0 hm'],
  ],
  [
    'of an open text is in it, whatever its name',
    (out) => {
      out.text('a', 5);
      out.cite(page, 6);
    },
    ['+0 text', '0 a', '0 cites https://a.example'],
  ],
  [
    'of an ended text is in one more of its phase',
    (out) => {
      out.text('a', 5, { phase: 'p' });
      out.end(5);
      out.cite(page, 5);
    },
    ['+0 text phase=p', '0 a', '-0', '+1 text phase=p', '1 cites https://a.example'],
  ],
  [
    'behind an image is lost',
    (out) => {
      out.text('a');
      out.image({ base64: 'x' });
      out.cite(page);
    },
    ['+0 text', '0 a', '-0', 'image'],
  ],
];

describe('a block of an answer', () => {
  for (const [what, write, parts] of ENDED) {
    it(`ends before ${what}, be it a text or a call that is whole`, () => {
      const text = written((out) => {
        out.text('a', 0);
        write(out);
      });
      expect(text).to.deep.equal(['+0 text', '0 a', ...parts]);
      const tool = written((out) => {
        whole(out);
        write(out);
      });
      expect(tool).to.deep.equal([...CALL, ...parts]);
    });
  }

  for (const [what, write, parts] of FRAGMENTS) {
    it(`follows a rule: ${what}`, () => expect(written(write)).to.deep.equal(parts));
  }

  for (const [what, write, parts] of CITED) {
    it(`takes citations: one ${what}`, () => expect(written(write)).to.deep.equal(parts));
  }

  it('has whole characters only: a half waits for its other half, or is replaced', () => {
    const rows: readonly (readonly [given: readonly string[], said: readonly string[]])[] = [
      [
        ['a\ud800', '\udc00b'],
        ['a', '\ud800\udc00b'],
      ],
      [
        ['a\udbff', '\udfffb'],
        ['a', '\udbff\udfffb'],
      ],
      [
        ['a\ud83d', 'b'],
        ['a', '\ufffdb'],
      ],
      [
        ['a\ud83d', '\ue000'],
        ['a', '\ufffd\ue000'],
      ],
      [
        ['a\ud83d', '\ud83d', '\ude00'],
        ['a', '\ufffd', '\u{1f600}'],
      ],
      [['\udc00a'], ['\ufffda']],
      [['\udfffa'], ['\ufffda']],
      [['\ue000a\ud7ff'], ['\ue000a\ud7ff']],
      [['a\ue000'], ['a\ue000']],
      [
        ['a\ud800\udc00', 'b'],
        ['a\ud800\udc00', 'b'],
      ],
    ];
    for (const [given, said] of rows) {
      const parts = written((out) => given.map((text) => out.text(text)));
      expect(parts, JSON.stringify(given)).to.deep.equal(['+0 text', ...said.map((text) => `0 ${text}`)]);
    }
  });

  it('replaces half a character that is left at the end, after the finish reason', () => {
    for (const end of ['close', 'done'] as const) {
      const write = (out: Writer) => {
        out.text('a\ud83d');
        out.finish('stop', 's');
        expect(out.isDone).to.equal(false);
        out[end]('[DONE]');
        expect(out.isDone).to.equal(end === 'done');
      };
      expect(written(write)).to.deep.equal(['+0 text', '0 a', 'stop s', '0 \ufffd', '-0']);
    }
  });

  it('puts the finish reason last if every block came before it', () => {
    written((out) => {
      out.text('a');
      out.image({ base64: 'x' });
      whole(out);
      out.finish('stop', 's');
      expect(out.finished).to.equal(true);
    });
  });

  it('has the first id and the first name of a call', () => {
    const write = (out: Writer) => {
      for (const named of [{ id: 'a' }, { id: 'b', name: 'f' }, { id: 'c', name: 'g', json: '[1]' }]) {
        out.tool({ block: 'c', ...named });
      }
    };
    expect(written(write)).to.deep.equal(['+0 tool id=a name=f', '0 [1]']);
  });

  it('is one call for each id: one more of the same gets its own', () => {
    const opened = written((out) => {
      for (const block of [1, 2]) out.tool({ ...call, block, json: '[1]' });
    }).filter((part) => part.startsWith('+'));
    expect(opened[0]).to.equal('+0 tool id=i name=f');
    expect(opened[1]).to.match(/^\+1 tool id=call_[0-9a-f]{24} name=f$/);
  });
});

describe('the counts of an answer', () => {
  it('may have a zero beside a cache that was counted before, and are told once', () => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    out.usage({ cacheRead: 5 });
    out.usage({ input: 0 });
    out.usage({ input: 0, cacheRead: 5 });
    expect(parts).to.deep.equal([
      { type: 'usage', cacheRead: 5 },
      { type: 'usage', input: 0 },
    ]);
  });
});
