// Calls of tools out of pieces: whatever order they come in, parts are whole calls one after the other.
import { expect } from 'chai';
import fc from 'fast-check';
import { Guard } from '../../../lib/stream/guard.ts';
import type { ProviderPart } from '../../../lib/upstream/contract/provider.ts';
import { Writer } from '../../../lib/upstream/host/writer.ts';
import { longer } from '../../../testkit/long.ts';

interface Seen {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly state?: object;
  text: string;
}

/** What comes out behind the guard, which fails on every breach of the grammar. */
function written(write: (out: Writer) => void): readonly Seen[] {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  write(out);
  out.finish('tool', 'tool_calls');
  out.close();
  const guard = new Guard();
  const passed = [...guard.push(parts), ...guard.end()];
  const seen: Seen[] = [];
  for (const part of passed) {
    if (part.type === 'error') throw part.fault.cause ?? part.fault;
    if (part.type === 'block-start') seen.push({ ...part.block, text: '' });
    if (part.type === 'block-delta') (seen.at(-1) as Seen).text += part.text;
  }
  return seen;
}

const call = (id: string, name: string, text: string) => ({ type: 'tool', id, name, text });

describe('what goes on behind a reason to end', () => {
  const again = (out: Writer) => out.finish('stop', 'stop');

  it('is the other half of a character', () => {
    const write = (out: Writer) => {
      for (const half of ['a\ud83d', '\ude00b']) {
        out.text(half);
        again(out);
      }
    };
    expect(written(write)).to.deep.equal([{ type: 'text', text: 'a\u{1f600}b' }]);
  });

  it('are the arguments that a placeholder stood for', () => {
    const write = (out: Writer) => {
      for (const json of ['{}', '{"a":1}']) {
        out.tool({ block: 0, id: 'id', name: 'f', json });
        again(out);
      }
    };
    expect(written(write)).to.deep.equal([call('id', 'f', '{"a":1}')]);
  });
});

describe('calls of tools', () => {
  it('come whole and in order, however their pieces come in turn', () => {
    const json = fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
      .map((value) => JSON.stringify(value));
    const cut = fc.array(fc.nat(40), { maxLength: 5 });
    const calls = fc.array(fc.tuple(json, cut), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(calls, fc.array(fc.nat(3)), fc.string({ maxLength: 3 }), (made, order, before) => {
        const queues = made.map(([text, cuts], block) => {
          const places = [0, ...cuts.map((at) => Math.min(at, text.length)).sort((a, b) => a - b), text.length];
          return places.slice(1).map((end, at) => ({ block, json: text.slice(places[at], end) }));
        });
        const seen = written((out) => {
          if (before !== '') out.text(before);
          for (const [block] of made.entries()) out.tool({ block, id: `id${block}`, name: `f${block}` });
          const turns = [...order, ...queues.flatMap((queue, at) => queue.map(() => at))];
          for (const turn of turns) {
            const piece = queues[turn]?.shift();
            if (piece) out.tool(piece);
          }
        });
        const said = before === '' ? [] : [{ type: 'text', text: before.toWellFormed() }];
        expect(seen.filter(({ text }) => text !== '')).to.deep.equal([
          ...said,
          ...made.map(([text], at) => call(`id${at}`, `f${at}`, text)),
        ]);
      }),
      { numRuns: longer(60, 300) },
    );
  });

  it('goes out as it comes, the next one once the last is complete', () => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    out.tool({ block: 0, id: 'a', name: 'f', json: '{"x":"}' });
    expect(parts.map(({ type }) => type)).to.deep.equal(['start', 'block-start', 'block-delta']);
    out.tool({ block: 1, id: 'b', name: 'g', json: '{' });
    out.tool({ block: 0, json: '\\"]"}' });
    expect(parts.slice(3).map(({ type }) => type)).to.deep.equal([
      'block-start',
      'block-delta',
      'block-delta',
      'block-end',
    ]);
    out.tool({ block: 1, json: '}' });
    expect(parts).to.have.length(8);
    // What is complete and over takes nothing more.
    out.tool({ block: 0, json: 'late' });
    expect(parts).to.have.length(8);
  });

  it('keeps text that comes within a call for its end', () => {
    const seen = written((out) => {
      out.tool({ block: 0, id: 'a', name: 'f', json: '{"x":' });
      out.text('well');
      out.tool({ block: 0, json: '1}' });
      out.tool({ block: 1, id: 'b', name: 'g', json: '{}' });
    });
    expect(seen).to.deep.equal([call('a', 'f', '{"x":1}'), { type: 'text', text: 'well' }, call('b', 'g', '{}')]);
    const after = written((out) => {
      out.tool({ block: 0, id: 'a', name: 'f', json: '{}' });
      out.text('well');
      out.tool({ block: 0, json: 'late' });
    });
    expect(after).to.deep.equal([call('a', 'f', '{}'), { type: 'text', text: 'well' }]);
  });

  it('has arguments that are none as empty ones, and broken ones as they are', () => {
    const seen = written((out) => {
      out.tool({ block: 0, id: 'a', name: 'f' });
      out.tool({ block: 1, id: 'b', name: 'g', json: '{"x": oh' });
      out.tool({ block: 2, id: 'c', name: 'h', json: { x: [1] } });
      out.tool({ block: 3, id: 'd', name: 'i', json: null });
    });
    expect(seen.map(({ text }) => text)).to.deep.equal(['{}', '{"x": oh', '{"x":[1]}', '{}']);
  });

  it('stays open where its answer breaks off, like a text before it', () => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    out.tool({ block: 0, id: 'a', name: 'f' });
    out.text('half a \uD83D');
    const before = parts.length;
    out.close();
    expect(parts.slice(before)).to.deep.equal([]);
  });

  it('gets an id where it has none, and is none without a name', () => {
    const [first, second, ...more] = written((out) => {
      out.tool({ block: 0, json: '{"lost":1}' });
      out.tool({ block: 1, id: '', name: 'g', json: '{}' });
      out.tool({ block: 2, name: 'g', json: '{}', id: 5 });
    });
    expect(more).to.deep.equal([]);
    expect(first?.id).to.match(/^call_[0-9a-f]{24}$/);
    expect(second?.id)
      .to.match(/^call_[0-9a-f]{24}$/)
      .and.not.equal(first?.id);
  });

  it('waits for its name, and keeps its state', () => {
    const seen = written((out) => {
      out.tool({ block: 0, json: '{"x"' });
      out.tool({ block: 0, id: 'a', name: 'f', state: 's', json: ':1}' });
    });
    expect(seen).to.deep.equal([{ ...call('a', 'f', '{"x":1}'), state: { format: 'plugin', value: 's' } }]);
  });

  it('has the rest of its whole arguments, and each of them once', () => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    out.tool({ block: 1, name: 'look', json: '{"a":' });
    out.tool({ block: 1, json: '{"a":1}', isWhole: true });
    out.tool({ block: 1, json: '{"a":1}', isWhole: true });
    const said = parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
    expect(said).to.deep.equal(['{"a":', '1}']);
  });

  it('counts no prompt as empty, but believes a zero beside other counts', () => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    out.usage({ input: 2, cacheRead: 50 });
    out.usage({ input: 0, cacheRead: 0, output: 3 });
    out.usage({ input: 52, cacheRead: 0 });
    out.usage({ input: 0, output: 0 });
    expect(parts).to.deep.equal([
      { type: 'usage', input: 2, cacheRead: 50 },
      { type: 'usage', output: 3 },
      { type: 'usage', input: 52, cacheRead: 0 },
    ]);
  });

  it('keeps the halves of a character together', () => {
    const seen = written((out) => {
      out.tool({ block: 0, id: 'a', name: 'f', json: '{"x":"\ud83d' });
      out.tool({ block: 0, json: '\ude00"}' });
      out.tool({ block: 1, id: 'b', name: 'f', json: '{"x":"\ud83d' });
    });
    expect(seen.map(({ text }) => text)).to.deep.equal(['{"x":"😀"}', '{"x":"\ufffd']);
  });
});

describe('parts of an answer', () => {
  const partsOf = (write: (out: Writer) => void) => {
    const parts: ProviderPart[] = [];
    const out = new Writer();
    out.into(parts);
    write(out);
    return parts;
  };

  it('keep an image’s media type if it is a text, and finish after an image alone', () => {
    const parts = partsOf((out) => {
      out.image({ mediaType: 'image/png', base64: 'x' });
      out.image({ mediaType: 5, base64: 'y' });
      out.done('[DONE]');
    });
    expect(parts).to.deep.equal([
      { type: 'start' },
      { type: 'image', mediaType: 'image/png', base64: 'x' },
      { type: 'image', base64: 'y' },
      { type: 'finish', reason: 'stop', raw: '[DONE]' },
    ]);
  });

  it('take the first id and model that are not empty', () => {
    const parts = partsOf((out) => {
      for (const none of ['', 5, null, undefined]) out.start({ id: none, model: none });
      out.start({ id: 'a', model: 'm' });
      out.start({ id: 'b', model: 'n' });
      out.finish('stop', 's');
    });
    expect(parts[0]).to.deep.equal({ type: 'start', id: 'a', model: 'm' });
  });

  it('are none of an empty text or refusal', () => {
    const parts = partsOf((out) => {
      out.text('');
      out.refusal('');
      out.done('[DONE]');
    });
    expect(parts).to.deep.equal([]);
  });

  it('count a prompt that is all cached', () => {
    const parts = partsOf((out) => {
      out.usage({ input: 0, cacheRead: 5 });
      out.usage({ input: 0, output: 2 });
    });
    expect(parts).to.deep.equal([
      { type: 'usage', input: 0, cacheRead: 5 },
      { type: 'usage', output: 2 },
    ]);
  });

  const late: readonly (readonly [what: string, write: (out: Writer) => void, finished: boolean])[] = [
    ['a text', (out) => out.text('b'), false],
    ['a refusal', (out) => out.refusal('b'), false],
    ['an image', (out) => out.image({ base64: 'x' }), false],
    ['a call', (out) => out.tool({ block: 1, id: 'x', name: 'f', json: '{"' }), false],
    ['a call that is only named yet', (out) => out.tool({ block: 1, id: 'x', name: 'f' }), false],
    ['counts', (out) => out.usage({ input: 1 }), true],
    ['a sign of life', (out) => out.alive(), true],
    ['nothing', () => {}, true],
  ];
  for (const [what, write, finished] of late) {
    it(`are ${finished ? '' : 'not '}all there when ${what} follows a reason to end`, () => {
      partsOf((out) => {
        out.text('a');
        expect(out.finished).to.equal(false);
        out.finish('stop', 's');
        expect(out.finished).to.equal(true);
        write(out);
        expect(out.finished).to.equal(finished);
      });
    });
  }
});
