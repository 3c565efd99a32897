// What the lenient decoder reports of the event that is not complete yet, by which answers in memory are counted.
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import type { AnswerMemory } from '../../../lib/stream/answer-memory.ts';
import { createHostFault } from '../../../lib/upstream/host/host-fault.ts';
import { LenientAnswer } from '../../../lib/upstream/host/lenient-answer.ts';

describe('the memory of a lenient decoder', () => {
  /** What is noted after each of these reads, and how many values they had. */
  function notesOf(reads: readonly string[]): { readonly noted: readonly number[]; readonly values: number } {
    const noted: number[] = [];
    let values = 0;
    const memory = { noteEvent: (chars: number) => void noted.push(chars) } as unknown as AnswerMemory;
    const reader = { take: () => void values++ };
    const answer = new LenientAnswer({ reader, fault: createHostFault({ secrets: [] }), memory });
    for (const read of reads) answer.push(Buffer.from(read), []);
    return { noted, values };
  }

  it('counts a line that is not complete, and nothing once it is', () => {
    expect(notesOf(['data: {"a":', '"bc"}\n\n', 'data: {}\n\n'])).to.deep.equal({ noted: [11, 0], values: 2 });
  });

  it('counts the first lines of an event in several lines', () => {
    expect(notesOf(['data: {"a":\n', 'data: 1}\n', '\n'])).to.deep.equal({ noted: [5, 0], values: 1 });
  });

  it('counts the first lines of a document', () => {
    expect(notesOf(['{\n', '"a": 1\n', '}\n']).noted.slice(0, 2)).to.deep.equal([1, 8]);
  });
});
