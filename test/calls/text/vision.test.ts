// Which models may answer a call with images, of a key that is limited to some.
import { expect } from 'chai';
import { listVisionModels } from '../../../lib/calls/text/vision.ts';
import type { Catalog } from '../../../lib/catalog/catalog.ts';
import type { TextModel } from '../../../lib/catalog/model.ts';
import { NO_LIMITS } from '../../../lib/money/key-limits.ts';

const model = (id: string, vision = true) =>
  ({ type: 'text', id, aliases: [`${id}-alias`], vision, routes: [{}] }) as unknown as TextModel;

describe('vision models of a call', () => {
  const [small, eye, lens, other] = [model('small', false), model('eye'), model('lens'), model('other')];

  function list(
    models: readonly string[] | null,
    { asked = small, beyond = false, vision = [eye, lens] } = {},
  ): readonly string[] {
    const catalog = { models: [small, other, eye, lens], vision, visionBeyondLimits: beyond };
    return listVisionModels(catalog as unknown as Catalog, asked, { ...NO_LIMITS, models }).map(({ id }) => id);
  }

  it('are those of the catalog, in its order, after the requested one', () => {
    expect(list(null)).to.deep.equal(['eye', 'lens']);
    expect(list(null, { asked: lens })).to.deep.equal(['lens', 'eye']);
    expect(list(null, { vision: [] })).to.deep.equal([]);
  });

  it('are those that the key names, or others that see', () => {
    expect(list(['small', 'lens-alias'])).to.deep.equal(['lens']);
    expect(list(['small', 'other'])).to.deep.equal(['other']);
    expect(() => list(['small'])).to.throw('may not be used for model `eye`');
    expect(list(['lens'], { asked: lens })).to.deep.equal(['lens']);
  });

  it('beyond the limits are all of the catalog, those that the key names first', () => {
    expect(list(['small'], { beyond: true })).to.deep.equal(['eye', 'lens']);
    expect(list(['small', 'lens'], { beyond: true })).to.deep.equal(['lens', 'eye']);
    expect(list(['lens'], { asked: lens, beyond: true })).to.deep.equal(['lens', 'eye']);
  });
});
