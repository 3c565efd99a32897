import { expect } from 'chai';
import { answers, calls, joined, line, open, text, types, whole } from './stage.ts';

describe('answers in the chat format', () => {
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

  it('loses no text when every chunk has a finish reason, and says the last reason last', () => {
    const reply = open();
    const lines = [
      line({ reasoning_content: 'Hm' }, 'stop'),
      text('Hel', 'stop'),
      text('lo', 'stop'),
      text('!', 'length'),
      'data: [DONE]',
    ];
    const parts = reply.push(lines);
    expect(joined(parts)).to.equal('HmHello!');
    expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'length', raw: 'length' });
  });

  it('fails at an error in its choice when nothing else says how it ended', () => {
    const failing = (fields: object) => `data: ${JSON.stringify({ choices: [{ index: 0, ...fields }] })}`;
    const error = { code: 502, message: 'gone' };
    for (const last of [
      failing({ delta: { content: 'B' }, error }),
      failing({ delta: {}, finish_reason: null, error }),
    ]) {
      const reply = open();
      reply.push([text('A'), last, 'data: [DONE]']);
      expect(reply.failure).to.include({ kind: 'server', status: 502 });
    }
    const whole = open();
    whole.push([JSON.stringify({ object: 'chat.completion', choices: [{ message: { content: 'A' }, error }] })]);
    expect(whole.failure).to.include({ kind: 'server', status: 502 });
    const empty = open();
    expect(types(empty.push([text('A'), failing({ delta: {}, error: {} }), 'data: [DONE]'])).at(-1)).to.equal('finish');
  });

  it('fails at an error beside a choice, whatever else the choice brings', () => {
    for (const [more, kind] of [
      [{ error: { code: 502, message: 'gone' } }, 'server'],
      [{ base_resp: { status_code: 7, status_msg: 'insufficient balance' } }, 'quota'],
    ] as const) {
      for (const last of [line({ content: 'B' }, undefined, more), line({}, 'stop', more)]) {
        const reply = open();
        expect(joined(reply.push([text('A'), last, 'data: [DONE]']))).to.equal('A');
        expect(reply.failure).to.include({ kind });
      }
    }
  });

  for (const odd of [
    { err: { msg: 'the worker has died', code: 503 } },
    { fault: { faultstring: 'Rate limit quota violation' } },
    { status: 'failed', reason: 'out of memory' },
    { exception: 'java.lang.OutOfMemoryError' },
  ]) {
    it(`does not believe an end mark behind ${JSON.stringify(odd)}`, () => {
      const reply = open();
      expect(joined(reply.push([text('A'), `data: ${JSON.stringify(odd)}`, 'data: [DONE]']))).to.equal('A');
      expect(reply.failure).to.include({ kind: 'server' });
    });
  }

  it('fails at an error in an object of its own that comes without a choice', () => {
    for (const [odd, kind] of [
      [{ choices: [], x_groq: { id: 'r', error: 'over capacity' } }, 'server'],
      [{ id: 'c', provider: { error: { message: 'gone', code: 502 } } }, 'server'],
      [{ id: 'c', provider: { error: { message: 'insufficient balance' } } }, 'quota'],
    ] as const) {
      const reply = open();
      reply.push([text('Hi'), `data: ${JSON.stringify(odd)}`, line({}, 'stop'), 'data: [DONE]']);
      expect(reply.failure, JSON.stringify(odd)).to.include({ kind });
    }
    const harmless = open();
    harmless.push([text('Hi'), 'data: {"choices":[],"x_groq":{"id":"r","error":null},"usage":{}}', 'data: [DONE]']);
    expect(harmless.failure).to.equal(undefined);
  });

  it('believes an end mark when a reason, or more text, is there beside what looks like an error', () => {
    const odd = 'data: {"err":{"msg":"the worker has died"}}';
    const metadata = 'data: {"conversation":"c1","citations":[]}';
    for (const lines of [
      [text('A'), line({}, 'stop'), odd],
      [text('A', 'stop'), odd],
      [text('A', 'stop'), text('B', 'stop'), odd],
      [text('A'), odd, text('B')],
      [text('A'), metadata],
      [text('A'), 'data: {"choices":[],"prompt_filter_results":[{"error":{}}]}'],
      [text('A'), 'data: {"usage":{"prompt_tokens":3},"error_rate":0}'],
    ]) {
      const reply = open();
      const parts = reply.push([...lines, 'data: [DONE]']);
      expect(parts.at(-1), lines.join()).to.include({ type: 'finish', reason: 'stop' });
      expect(reply.failure).to.equal(undefined);
    }
  });

  it('takes only a refusal with words for one', () => {
    for (const refusal of [[], {}, '', null, [null]]) {
      const reply = open();
      const last = reply.push([line({ content: 'A', refusal }), line({}, 'stop')]).at(-1);
      expect(last, JSON.stringify(refusal)).to.include({ type: 'finish', reason: 'stop' });
    }
  });

  it('takes text after a finish that was said, but no error', () => {
    const reply = open();
    expect(joined(reply.push([text('A'), line({}, 'stop'), text('B')]))).to.equal('AB');
    const finished = open();
    finished.push([text('A'), line({}, 'stop'), 'data: {"error":{"message":"late"}}']);
    expect(finished.failure).to.equal(undefined);
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
    const high = '\ud83d';
    const low = '\ude00';
    expect(joined(open().push([text(`a${high}`), text(low), text(high), text(`${low}b`)]))).to.equal('a😀😀b');
    expect(joined(open().push([text(high)]))).to.equal('');
  });

  it('fails once at a bad event and keeps what came before', () => {
    const reply = open();
    const parts = reply.push([text('A'), 'data: {"choices":[', text('B')]);
    expect(joined(parts)).to.equal('A');
    expect(reply.failure).to.include({ kind: 'protocol' });
    expect(reply.done).to.equal(true);
  });

  it('is cut off without an end mark, after a refusal or what looks like an error too', () => {
    for (const last of [line({ refusal: 'No.' }), 'data: {"err":{"msg":"the worker has died"}}']) {
      const reply = open();
      reply.push([text('A'), last]);
      expect(reply.end()).to.deep.equal([]);
      expect(reply.failure).to.equal(undefined);
    }
  });

  it('is whole without a reason and an end mark where it was counted at last, and once', () => {
    const counts = 'data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}';
    const call = line({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{}' } }] });
    const ends = (lines: readonly string[]) => {
      const reply = open();
      return types([...reply.push(lines), ...reply.end()]).filter((type) => type === 'finish').length;
    };
    for (const lines of [
      [text('Hi'), counts],
      [call, counts],
      [counts, text('Hi')],
      [text('Hi'), counts, counts],
    ]) {
      expect(ends(lines), lines.join()).to.equal(lines.at(-1) === counts && lines.length === 2 ? 1 : 0);
    }
    expect(ends([counts])).to.equal(0);
    const cost = 'data: {"choices":[],"cost":"0"}';
    const endings = [[counts, cost], [cost], [counts, cost, text('!')]];
    expect(endings.map((ending) => ends([text('Hi'), ...ending]))).to.deep.equal([1, 0, 0]);
    expect(ends([line({ reasoning: 'Hm' }), counts])).to.equal(0);
    const reply = open();
    reply.push([text('Hi'), counts]);
    reply.break(new Error('reset'));
    expect(reply.failure).to.be.an('error');
  });

  it('takes a bad last event for an answer that is cut off', () => {
    const reply = open();
    reply.push([text('A'), 'data: {"choices":[']);
    expect(reply.end()).to.deep.equal([]);
    expect(reply.failure).to.equal(undefined);
  });

  it('finishes when the connection breaks after a reason, and fails before', () => {
    const whole = open();
    const cut = open();
    expect(types(whole.push([text('A', 'stop')])).slice(-2)).to.deep.equal(['block-end', 'finish']);
    whole.break(new Error('reset'));
    expect(whole.failure).to.equal(undefined);
    cut.push([text('A')]);
    cut.break(new Error('reset'));
    expect(cut.failure).to.have.property('message', 'reset');
  });

  it('believes no reason that text followed when the connection breaks, or an error comes', () => {
    const broken = open();
    broken.push([text('A', 'stop'), text('B', 'stop')]);
    broken.break(new Error('reset'));
    expect(broken.failure).to.have.property('message', 'reset');
    const refused = open();
    refused.push([text('A', 'stop'), text('B', 'stop'), 'data: {"error":{"message":"busy","code":503}}']);
    expect(refused.failure).to.include({ kind: 'overloaded' });
    const whole = open();
    expect(types(whole.push([text('A', 'stop'), text('B', 'stop')])).at(-1)).to.equal('finish');
    whole.end();
    expect(whole.failure).to.equal(undefined);
  });

  it('gives up a value in pieces that never ends', () => {
    const reply = open();
    const piece = `data: "${'x'.repeat(1024 * 1024 - 10)}`;
    for (let at = 0; at < 8 && !reply.done; at += 1) reply.push([piece]);
    expect(reply.failure).to.include({ kind: 'protocol' });
  });

  it('looks for counts in other places only at the end, and takes the first that there is', () => {
    const counts = [
      { at: ['x_acme', 'usage'] },
      { at: ['timings'], names: { input: ['prompt_n', 'cache_n'], output: ['predicted_n'] } },
    ];
    const nested = { x_acme: { usage: { prompt_tokens: 3, completion_tokens: 1 } } };
    const timings = { timings: { prompt_n: 2, cache_n: 5, predicted_n: 4 } };
    const reply = open({ counts });
    expect(types(reply.push([line({ content: 'A' }, undefined, nested)]))).to.not.include('usage');
    expect(reply.push([line({}, 'stop', { ...timings, ...nested })])).to.deep.include({
      type: 'usage',
      input: 3,
      output: 1,
    });
    expect(open({ counts }).push([line({ content: 'A' }, 'stop', timings)])).to.deep.include({
      type: 'usage',
      input: 7,
      output: 4,
    });
    expect(types(open().push([line({ content: 'A' }, 'stop', timings)]))).to.not.include('usage');
  });

  it('cuts off what deltas repeat where they say the whole text so far', () => {
    const lines = [text('Hel'), text('Hello'), text('Hello')];
    expect(joined(open({ isCumulative: true }).push(lines))).to.equal('Hello');
    expect(joined(open().push(lines))).to.equal('HelHelloHello');
  });

  it('takes the text of a whole message, unless deltas have said it', () => {
    expect(joined(open().push([whole({ content: 'Hello' })]))).to.equal('Hello');
    expect(joined(open().push([whole({ content: [{ text: 'Hel' }, { type: 'image' }, 'lo'] })]))).to.equal('Hello');
    expect(joined(open().push([whole({ content: [{ type: 'output_text', text: 'Hello' }] })]))).to.equal('Hello');
    expect(joined(open().push([text([]), whole({ content: 'Hello' })]))).to.equal('Hello');
    expect(joined(open().push([text('Hel'), text('lo'), whole({ content: 'Hello' })]))).to.equal('Hello');
  });

  it('takes a whole answer for its own end, and a message that is not called one for a part', () => {
    const choices = [{ index: 0, message: { content: 'A' } }];
    const answer = open();
    const part = open();
    const parts = answer.push([JSON.stringify({ object: 'chat.completion', choices })]);
    expect([...parts, ...answer.end()].at(-1)).to.include({ type: 'finish', reason: 'stop' });
    part.push([`data: ${JSON.stringify({ choices })}`]);
    expect(types(part.end())).not.to.include('finish');
  });

  it('looks for counts in other places of a whole answer, and behind a reason', () => {
    const quirks = { counts: [{ at: ['x_acme', 'usage'] }] };
    const nested = { x_acme: { usage: { prompt_tokens: 3, completion_tokens: 1 } } };
    const counted = { type: 'usage', input: 3, output: 1 };
    const whole = { object: 'chat.completion', choices: [{ message: { content: 'A' } }], ...nested };
    expect(open(quirks).push([JSON.stringify(whole)])).to.deep.include(counted);
    expect(open(quirks).push([text('A', 'stop'), line({}, undefined, nested)])).to.deep.include(counted);
  });

  it('takes calls of either kind, in deltas and in a whole message', () => {
    const modern = { tool_calls: [{ id: 'a', function: { name: 'look', arguments: '{"at":1}' } }, null] };
    const legacy = { function_call: { name: 'look', arguments: '{"at":1}' } };
    const flat = { tool_calls: [{ id: 'a', name: 'look', arguments: '{"at":1}' }] };
    for (const said of [modern, legacy, { ...modern, ...legacy }, flat]) {
      for (const lines of [[line(said), line({}, 'tool_calls')], [whole(said)]]) {
        const reply = open();
        const parts = [...reply.push(lines), ...reply.end()];
        expect(joined(parts)).to.equal('{"at":1}');
        expect(calls(parts)).to.have.length(1);
        expect(calls(parts)[0]).to.include({ name: 'look', ...('tool_calls' in said && { id: 'a' }) });
      }
    }
  });

  it('tells calls apart by index or id, and gives the last one what has neither', () => {
    const piece = (json: string, more: object = {}, name?: string) =>
      line({ tool_calls: [{ ...more, function: { name, arguments: json } }] });
    for (const [a, b] of [
      [
        { id: 'a', index: 0 },
        { id: 'b', index: 1 },
      ],
      [
        { id: 'a', index: 0 },
        { id: 'b', index: 0 },
      ],
      [{ id: 'a' }, { id: 'b' }],
    ] as const) {
      const rest = 'index' in b ? { index: b.index } : {};
      const reply = open();
      const lines = [piece('{"at"', a, 'look'), piece(':1}', a), piece('{"to"', b, 'walk'), piece(':2}', rest)];
      const parts = [...reply.push([...lines, line({}, 'tool_calls')]), ...reply.end()];
      expect(calls(parts).map(({ id, name }) => `${id} ${name}`)).to.deep.equal(['a look', 'b walk']);
      expect(joined(parts)).to.equal('{"at":1}{"to":2}');
    }
  });

  it('takes an id that comes late for that of the call with its index, and the next one for another call', () => {
    const piece = (json: string, id?: string, name?: string) =>
      line({ tool_calls: [{ index: 0, id, function: { name, arguments: json } }] });
    const reply = open();
    const lines = [piece('{"at"', undefined, 'look'), piece(':1}', 'a'), piece('{"to":2}', 'b', 'walk')];
    const parts = [...reply.push([...lines, line({}, 'tool_calls')]), ...reply.end()];
    expect(calls(parts).map(({ name }) => name)).to.deep.equal(['look', 'walk']);
    expect(joined(parts)).to.equal('{"at":1}{"to":2}');
  });

  it('takes the rest of a call whose id comes again without an index', () => {
    const piece = (id: string, json: string, name?: string) =>
      line({ tool_calls: [{ id, function: { name, arguments: json } }] });
    const reply = open();
    const lines = [piece('a', '{"at"', 'look'), piece('b', '{}', 'walk'), piece('a', ':1}'), line({}, 'tool_calls')];
    const parts = [...reply.push(lines), ...reply.end()];
    expect(calls(parts).map(({ id }) => id)).to.deep.equal(['a', 'b']);
    expect(joined(parts)).to.equal('{"at":1}{}');
  });

  it('drops another answer behind its end, but not the rest of its own', () => {
    const named = (id: string, content: string, finish?: string) =>
      line(content === '' ? {} : { content }, finish, { id });
    const spliced = open();
    const parts = spliced.push([
      named('c1', 'Hi'),
      named('c1', '', 'stop'),
      named('c2', 'Lo'),
      named('c2', '', 'stop'),
    ]);
    expect([answers(parts), spliced.done]).to.deep.equal(['Hi', true]);
    const counted = `data: ${JSON.stringify({ id: 'c9', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2 } })}`;
    const own = open().push([named('c1', 'Hi'), named('c1', '', 'stop'), counted, named('c1', ' there')]);
    expect([answers(own), own.find(({ type }) => type === 'usage')]).to.deep.equal([
      'Hi there',
      { type: 'usage', input: 5, output: 2 },
    ]);
    // A server that names every chunk anew.
    const anew = open().push([named('c1', 'A'), named('c2', 'B'), named('c3', '', 'stop'), named('c4', 'C')]);
    expect(answers(anew)).to.equal('ABC');
  });

  it('reads counts inside a delta', () => {
    const parts = open().push([line({ content: 'Hi', usage: { prompt_tokens: 5, completion_tokens: 2 } })]);
    expect(parts.find(({ type }) => type === 'usage')).to.deep.equal({ type: 'usage', input: 5, output: 2 });
  });

  it('takes a refusal as text, and says that as the reason', () => {
    for (const lines of [[line({ refusal: 'No.' }), line({}, 'stop')], [whole({ content: null, refusal: 'No.' })]]) {
      const reply = open();
      const parts = [...reply.push([...lines, 'data: [DONE]'])];
      expect(joined(parts)).to.equal('No.');
      expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'filter', raw: 'refusal' });
    }
    const beside = open().push([whole({ content: 'Well. ', refusal: 'No.' }), 'data: [DONE]']);
    expect([joined(beside), beside.at(-1)]).to.deep.equal([
      'Well. No.',
      { type: 'finish', reason: 'filter', raw: 'refusal' },
    ]);
  });

  it('takes a refusal that no reason follows, and the first of several choices', () => {
    expect(
      open()
        .push([line({ refusal: 'No.' }), 'data: [DONE]'])
        .at(-1),
    ).to.include({ reason: 'filter' });
    const choices = [1, 0].map((index) => ({ index, delta: { content: `${index}` } }));
    expect(joined(open().push([`data: ${JSON.stringify({ choices })}`]))).to.equal('0');
  });
});
