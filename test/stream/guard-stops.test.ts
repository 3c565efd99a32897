// The stop string that an upstream says it ended an answer at.
import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import { CLOSE, delta, OPEN, START } from './parts.ts';

describe('guard of stop strings', () => {
  it('passes the string on that ended the answer, if the call has it', () => {
    const end = (reason: 'stop' | 'length', sequence: string, stops?: readonly string[]) => {
      const guard = new Guard({ outputMax: Number.POSITIVE_INFINITY, stops });
      guard.push([START, OPEN, delta('a'), CLOSE, { type: 'finish', reason, sequence }]);
      return guard.end().at(-1);
    };
    expect(end('stop', 'END', ['STOP', 'END'])).to.deep.equal({ type: 'finish', reason: 'stop', sequence: 'END' });
    expect(end('stop', '<|im_end|>', ['END'])).to.deep.equal({ type: 'finish', reason: 'stop' });
    expect(end('stop', 'END')).to.deep.equal({ type: 'finish', reason: 'stop' });
    expect(end('length', 'END', ['END'])).to.deep.equal({ type: 'finish', reason: 'length' });
  });

  it('drops it after a tool call, which the client has to run', () => {
    const guard = new Guard({ outputMax: Number.POSITIVE_INFINITY, toolNames: ['f'], stops: ['</tool_call>'] });
    const call = { type: 'block-start', index: 0, block: { type: 'tool', id: 'c', name: 'f' } } as const;
    guard.push([START, call, delta('{}'), CLOSE, { type: 'finish', reason: 'stop', sequence: '</tool_call>' }]);
    expect(guard.end().at(-1)).to.deep.equal({ type: 'finish', reason: 'tool' });
  });
});
