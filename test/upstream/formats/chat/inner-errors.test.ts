// Errors that a chunk has in an object of its own, such as one with a vendor's name.
import { expect } from 'chai';
import { joined, line, open, text } from './stage.ts';

const EMPTY = { choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] };

describe('errors within objects of chunks in the chat format', () => {
  it('fail the answer where the choice beside them says nothing', () => {
    for (const [odd, kind] of [
      [{ ...EMPTY, x_acme: { id: 'r', error: 'over capacity' } }, 'server'],
      [{ ...EMPTY, provider: { error: { message: 'insufficient balance' } } }, 'quota'],
    ] as const) {
      const reply = open();
      reply.push([text('Hi'), `data: ${JSON.stringify(odd)}`, 'data: [DONE]']);
      expect(reply.failure, JSON.stringify(odd)).to.include({ kind });
    }
  });

  it('are those of a tool of the server where the answer goes on in the same chunk', () => {
    for (const delta of [{ content: 'Hi' }, { reasoning: 'Hm' }, { tool_calls: [{ function: { name: 'look' } }] }]) {
      const reply = open();
      reply.push([line(delta, undefined, { search: { error: 'no results' } }), text('Ho'), line({}, 'stop')]);
      expect(reply.failure, JSON.stringify(delta)).to.equal(undefined);
    }
  });

  it('are none where all their fields are empty, as some servers have them in every chunk', () => {
    const error = { message: '', type: '', param: '', code: null };
    const reply = open();
    const inChoice = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Ho' }, error }] })}`;
    const parts = reply.push([line({ content: 'Hi' }, undefined, { error }), inChoice, line({}, 'stop', { error })]);
    expect(joined(parts)).to.equal('HiHo');
    expect(reply.failure).to.equal(undefined);
  });
});
