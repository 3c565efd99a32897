// The stop strings of a request: what is read of them, and which one is refused.
import { expect } from 'chai';
import { readStops } from '../../../lib/api/dialects/stops.ts';

describe('stop strings', () => {
  it('are one or several, or absent', () => {
    expect(readStops('stop', 'END')).to.deep.equal({ stops: ['END'] });
    expect(readStops('stop', 'x'.repeat(1024))).to.deep.equal({ stops: ['x'.repeat(1024)] });
    expect(readStops('stop', ['a', '😀'])).to.deep.equal({ stops: ['a', '😀'] });
    for (const none of [undefined, null, []]) expect(readStops('stop', none)).to.deep.equal({});
  });

  it('are refused by the place of the one that is wrong', () => {
    for (const wrong of ['', 5, null, '\ud83d', 'x'.repeat(1025)]) {
      expect(() => readStops('stop_sequences', ['a', wrong])).to.throw('Invalid `stop_sequences[1]`: must be a string');
    }
    expect(() => readStops('stop', '\ud83d')).to.throw(
      'Invalid `stop`: must be a string of 1 to 1024 whole characters',
    );
  });
});
