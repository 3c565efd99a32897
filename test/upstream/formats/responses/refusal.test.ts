// What a model of the responses format refuses with, whichever events have it.
import { expect } from 'chai';
import type { ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { readEvents } from './read-events.ts';

const PLACE = { output_index: 0, item_id: 'm', content_index: 0 };
const ADDED = { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'm', content: [] } };
const DONE = { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } };

const textOf = (parts: readonly ProviderPart[]) =>
  parts.flatMap((part) => (part.type === 'block-delta' ? [part.text] : [])).join('');

describe('refusals in the responses format', () => {
  it('are read as they come, and what is missing of them once they are done', () => {
    const delta = { ...PLACE, type: 'response.refusal.delta', delta: 'I' };
    const whole = { ...PLACE, type: 'response.refusal.done', refusal: 'I cannot.' };
    for (const events of [[delta, whole], [whole], [delta, whole, whole]]) {
      const parts = readEvents([ADDED, ...events, DONE]);
      expect(textOf(parts)).to.equal('I cannot.');
      const begun = parts.find(({ type }) => type === 'block-start');
      expect(begun).to.deep.include({ block: { type: 'text', refusal: true } });
      expect(parts.at(-1)).to.deep.equal({ type: 'finish', reason: 'filter', raw: 'completed' });
    }
  });

  it('have nothing of events without a text', () => {
    const none = { ...PLACE, type: 'response.refusal.delta', delta: 5 };
    const parts = readEvents([ADDED, none, { ...PLACE, type: 'response.output_text.done', text: 5 }, DONE]);
    expect(parts.map(({ type }) => type)).to.deep.equal(['start', 'finish']);
  });
});
