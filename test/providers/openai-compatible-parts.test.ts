import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import type { ProviderPart } from '../../lib/plugin/contract.ts';
import { createFinishReason } from '../../lib/plugin/finish-words.ts';
import { Frames } from '../../lib/plugin/frames.ts';
import { createHostFault } from '../../lib/plugin/host-fault.ts';
import { Reply } from '../../providers/openai-compatible/reply.ts';
import { usageOf } from '../../providers/openai-compatible/usage.ts';

const fault = createHostFault({ secrets: [] });

/** The plugin's reader behind the host's frames, a list of lines at a time. */
function open() {
  const frames = new Frames({
    reader: new Reply({ fault, finishReason: createFinishReason(fault) }, 'incremental'),
    fault,
  });
  const collect = (read: (parts: ProviderPart[]) => void): readonly ProviderPart[] => {
    const parts: ProviderPart[] = [];
    read(parts);
    return parts;
  };
  return {
    push: (lines: readonly string[]) => collect((parts) => frames.push(Buffer.from(`${lines.join('\n')}\n`), parts)),
    end: () => collect((parts) => frames.end(parts)),
    break: (error: unknown) => frames.break(error),
    get done() {
      return frames.done;
    },
    get failure() {
      return frames.error ?? frames.failure;
    },
  };
}

const line = (delta: object, finish?: string, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...(finish !== undefined && { finish_reason: finish }) }], ...more })}`;
const text = (content: unknown, finish?: string) => line({ content }, finish);
const types = (parts: readonly ProviderPart[]) => parts.map(({ type }) => type);
const joined = (parts: readonly ProviderPart[]) =>
  parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');

describe('openai-compatible: reply', () => {
  it('gives one array for the lines that arrived together', () => {
    const reply = open();
    expect(types(reply.push([text('A'), text('B')]))).to.deep.equal([
      'start',
      'block-start',
      'block-delta',
      'block-delta',
    ]);
    expect(types(reply.push([text('C')]))).to.deep.equal(['block-delta']);
  });

  it('says the finish at once when its chunk brings nothing else', () => {
    const reply = open();
    reply.push([text('A')]);
    expect(types(reply.push([line({}, 'stop')]))).to.deep.equal(['block-end', 'finish']);
    expect(reply.done).to.equal(false);
    expect(types(reply.push(['data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}']))).to.deep.equal(
      ['usage'],
    );
    expect(reply.push(['data: [DONE]'])).to.deep.equal([]);
    expect(reply.done).to.equal(true);
  });

  it('keeps a finish that comes with text until something says that it is the last', () => {
    for (const last of ['data: [DONE]', 'data: {"choices":[],"usage":{"prompt_tokens":3}}', undefined]) {
      const reply = open();
      expect(types(reply.push([text('A', 'stop')]))).to.deep.equal(['start', 'block-start', 'block-delta']);
      const rest = last === undefined ? reply.end() : reply.push([last]);
      expect(types(rest).slice(-2)).to.deep.equal(['block-end', 'finish']);
    }
  });

  it('loses no text when every chunk has a finish reason, and takes the last reason', () => {
    const reply = open();
    const lines = [
      line({ reasoning_content: 'Hm' }, 'stop'),
      text('Hel', 'stop'),
      text('lo', 'stop'),
      text('!', 'length'),
      'data: [DONE]',
    ];
    const parts = reply.push(lines);
    expect(joined(parts)).to.equal('Hello!');
    expect(parts.filter(({ type }) => type === 'finish')).to.deep.equal([
      { type: 'finish', reason: 'length', raw: 'length' },
    ]);
  });

  it('passes over text after a finish that was said', () => {
    const reply = open();
    reply.push([text('A'), line({}, 'stop')]);
    expect(reply.push([text('ghost'), line({}, 'length'), 'data: {"error":{"message":"late"}}'])).to.deep.equal([]);
    expect(reply.failure).to.equal(undefined);
  });

  it('calls the end mark the reason when there was no other', () => {
    const parts = open().push([text('A'), 'data: [DONE]']);
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'stop', raw: '[DONE]' });
  });

  it('reports usage only when it changed', () => {
    const reply = open();
    const usage = { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } };
    expect(types(reply.push([line({ content: 'A' }, undefined, usage)]))).to.include('usage');
    expect(types(reply.push([line({ content: 'B' }, undefined, usage)]))).to.deep.equal(['block-delta']);
  });

  it('joins the halves of a character over any number of deltas', () => {
    const [high, low] = ['\ud83d', '\ude00'];
    expect(joined(open().push([text(`a${high}`), text(low), text(high), text(`${low}b`)]))).to.equal('a😀😀b');
    expect(open().push([text(high)])).to.deep.equal([]);
  });

  it('fails once at a bad event and keeps what came before', () => {
    const reply = open();
    const parts = reply.push([text('A'), 'data: {"choices":[', text('B')]);
    expect(joined(parts)).to.equal('A');
    expect(reply.failure).to.include({ kind: 'protocol' });
    expect(reply.done).to.equal(true);
  });

  it('takes a bad last event for an answer that is cut off', () => {
    const reply = open();
    reply.push([text('A'), 'data: {"choices":[']);
    expect(reply.end()).to.deep.equal([]);
    expect(reply.failure).to.equal(undefined);
  });

  it('finishes when the connection breaks after a reason, and fails before', () => {
    const [whole, cut] = [open(), open()];
    whole.push([text('A', 'stop')]);
    expect(types(whole.break(new Error('reset')))).to.deep.equal(['block-end', 'finish']);
    expect(whole.failure).to.equal(undefined);
    cut.push([text('A')]);
    expect(cut.break(new Error('reset'))).to.deep.equal([]);
    expect(cut.failure).to.have.property('message', 'reset');
  });

  it('gives up a value in pieces that never ends', () => {
    const reply = open();
    const piece = `data: "${'x'.repeat(1024 * 1024 - 10)}`;
    for (let at = 0; at < 8 && !reply.done; at += 1) reply.push([piece]);
    expect(reply.failure).to.include({ kind: 'protocol' });
  });
});

describe('openai-compatible: usage', () => {
  const rows: readonly (readonly [
    what: string,
    usage: object,
    input: number | undefined,
    output: number | undefined,
  ])[] = [
    ['plain', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }, 5, 2],
    ['nothing', {}, undefined, undefined],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, undefined, undefined],
    ['total of both and more', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 10 }, 5, 5],
    ['no prompt but a total', { completion_tokens: 2, total_tokens: 10 }, 8, 2],
    ['no answer but a total', { prompt_tokens: 8, total_tokens: 10 }, 8, 2],
    ['a total too small', { prompt_tokens: 5, completion_tokens: 2, total_tokens: 3 }, 5, 2],
    [
      'reasoning inside',
      { prompt_tokens: 5, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 9 } },
      5,
      9,
    ],
    [
      'reasoning outside',
      { prompt_tokens: 5, completion_tokens: 2, output_tokens_details: { reasoning_tokens: 9 } },
      5,
      11,
    ],
    ['cache inside', { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 8 } }, 9, 2],
    ['cache outside', { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 8 }, 9, 2],
    ['the other names', { input_tokens: 4, output_tokens: 3, input_tokens_details: { cached_tokens: 2 } }, 4, 3],
    ['the other names with a cache apart', { input_tokens: 4, cache_read_input_tokens: 2, output_tokens: 3 }, 6, 3],
    ['both names', { prompt_tokens: 4, input_tokens: 0, completion_tokens: 3, output_tokens: 0 }, 4, 3],
    ['text', { prompt_tokens: '4', completion_tokens: ' 3 ' }, 4, 3],
    ['rubbish', { prompt_tokens: 'many', completion_tokens: [1] }, undefined, undefined],
    ['beyond all numbers', { prompt_tokens: 2 ** 60, completion_tokens: Number.NaN }, undefined, undefined],
  ];
  for (const [what, usage, input, output] of rows) {
    it(what, () => {
      const expected = { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
      expect(usageOf({ usage }, undefined, false)).to.deep.equal(expected);
    });
  }

  it('looks into the fields of vendors only at the end', () => {
    const chunk = { x_groq: { usage: { prompt_tokens: 3, completion_tokens: 1 } } };
    expect(usageOf(chunk, undefined, false)).to.equal(undefined);
    expect(usageOf(chunk, undefined, true)).to.deep.equal({ input: 3, output: 1 });
  });
});
