// The excerpt of long prompts: their start and their end only.
import { expect } from 'chai';
import { viewRequest } from '../../../lib/calls/smart/view.ts';

const ask = (...texts: readonly string[]) => ({
  role: 'user' as const,
  content: texts.map((text) => ({ type: 'text', text })),
});
const promptOf = (...texts: readonly string[]) => viewRequest({ messages: [ask(...texts)] }).prompt;

describe('the excerpt for the router', () => {
  it('contains a short prompt in full, with each text on its own line', () => {
    expect(promptOf('one', '', 'two')).to.equal('one\ntwo');
    expect(promptOf('x'.repeat(1500))).to.equal('x'.repeat(1500));
  });

  it('contains the first 1,000 and the last 500 characters of a long prompt, in one text or several', () => {
    const head = 'a'.repeat(1000);
    const tail = 'z'.repeat(500);
    expect(promptOf(`${head}middle${tail}`)).to.equal(`${head}\n\n\n${tail}`);
    expect(promptOf(head, 'middle', tail)).to.equal(`${head}\n\n\n${tail}`);
    expect(promptOf('a'.repeat(700), 'b'.repeat(1000), 'y'.repeat(300), 'z'.repeat(300))).to.equal(
      `${'a'.repeat(700)}\n${'b'.repeat(299)}\n\n\n${'y'.repeat(199)}\n${'z'.repeat(300)}`,
    );
  });

  it('skips earlier prompts that say nothing', () => {
    const view = viewRequest({ messages: [ask('write a parser'), ask('ok'), ask('дальше'), ask('and tests')] });
    expect(view.earlier).to.deep.equal(['write a parser']);
    expect(view.turns).to.equal(4);
  });

  it('contains the start of three earlier prompts, nearest first, and of the system prompt', () => {
    const messages = ['1', '2', '3', '4', 'last'].map((text) => ask(`${text}${'.'.repeat(700)}`));
    const view = viewRequest({ system: 's'.repeat(2000), messages });
    expect(view.earlier.map((text) => [text[0], text.length])).to.deep.equal(['4', '3', '2'].map((of) => [of, 600]));
    expect(view.system).to.have.length(1200);
    expect([view.turns, view.length, view.volume]).to.deep.equal([5, 704, 2000 + 4 * 701 + 704]);
  });
});
