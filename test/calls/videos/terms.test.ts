// What a video comes to: its length, what is sent upstream, and the price of exactly that.
import { expect } from 'chai';
import { computeVideoTerms, listOffers } from '../../../lib/calls/videos/terms.ts';
import type { VideoModel } from '../../../lib/catalog/model.ts';
import { parseRub } from '../../../lib/money/money.ts';
import type { VideoPrice } from '../../../lib/money/price.ts';

const rub = (text: string) => parseRub(text) as bigint;
const byResolution = (labels: Record<string, string>): VideoPrice => {
  return { unit: 'second', byResolution: new Map(Object.entries(labels).map(([label, text]) => [label, rub(text)])) };
};
const FLAT: VideoPrice = { unit: 'second', second: rub('9') };
const EACH: VideoPrice = { unit: 'request', request: rub('90') };
const ALL = byResolution({ '480p': '4', '720p': '8', '768p': '9', '1080p': '15', '2k': '30', '4k': '60' });
const HD = byResolution({ '720p': '8', '1080p': '15.5' });

function modelOf(price: VideoPrice, more: Partial<VideoModel> = {}): VideoModel {
  return {
    id: 'film',
    aliases: [],
    type: 'video',
    provider: 'Test',
    order: 'catalog',
    routes: [],
    price,
    ...more,
  } as VideoModel;
}

interface Wanted {
  readonly seconds?: number;
  readonly size?: string;
  readonly aspect?: string;
  readonly resolution?: string;
}

function sizeOf(text: string) {
  const [width = 0, height = 0] = text.split('x').map(Number);
  return { width, height };
}

function terms(model: VideoModel, { seconds, size, aspect, resolution }: Wanted) {
  return computeVideoTerms(model, { seconds, aspect, resolution, size: size === undefined ? undefined : sizeOf(size) });
}

describe('terms', () => {
  /** Asked for, of a model with all labels; then the label that is sent and billed, what is sent in pixels, the aspect. */
  const sent: readonly [Wanted, label: string, pixels: string, aspect: string][] = [
    [{}, '1080p', '1920x1080', '16:9'],
    [{ resolution: '480p' }, '480p', '854x480', '16:9'],
    [{ resolution: '720p' }, '720p', '1280x720', '16:9'],
    [{ resolution: '768p' }, '768p', '1366x768', '16:9'],
    [{ resolution: '2k' }, '2k', '2560x1440', '16:9'],
    [{ resolution: '4k' }, '4k', '3840x2160', '16:9'],
    [{ aspect: '9:16' }, '1080p', '1080x1920', '9:16'],
    [{ aspect: '1:1', resolution: '720p' }, '720p', '720x720', '1:1'],
    [{ aspect: '4:3', resolution: '768p' }, '768p', '1024x768', '4:3'],
    [{ aspect: '3:4', resolution: '480p' }, '480p', '480x640', '3:4'],
    [{ size: '1920x1080' }, '1080p', '1920x1080', '16:9'],
    [{ size: '1280x720' }, '720p', '1280x720', '16:9'],
    [{ size: '720x1280' }, '720p', '720x1280', '9:16'],
    [{ size: '1024x1024' }, '1080p', '1080x1080', '1:1'],
    [{ size: '16x8192' }, '480p', '480x854', '9:16'],
    [{ size: '8192x8192' }, '4k', '2160x2160', '1:1'],
    [{ size: '16x16' }, '480p', '480x480', '1:1'],
    [{ size: '600x600' }, '480p', '480x480', '1:1'],
    [{ size: '1366x768' }, '768p', '1366x768', '16:9'],
    [{ size: '2560x1440' }, '2k', '2560x1440', '16:9'],
    [{ size: '4096x2160' }, '4k', '3840x2160', '16:9'],
    // A size wins over the aspect, and a resolution over what the size says of it.
    [{ size: '720x1280', aspect: '16:9' }, '720p', '720x1280', '9:16'],
    [{ size: '3840x2160', resolution: '480p' }, '480p', '854x480', '16:9'],
  ];
  for (const [wanted, label, pixels, aspect] of sent) {
    it(`sends ${label} as ${pixels} for ${JSON.stringify(wanted)}, and bills that`, () => {
      const { asked, price, resolution } = terms(modelOf(ALL), wanted);
      const { width, height } = asked.size;
      expect([asked.resolution, `${width}x${height}`, asked.aspect]).to.deep.equal([label, pixels, aspect]);
      expect(price).to.include({ option: label, unit: 'second' });
      expect('byResolution' in ALL && ALL.byResolution.get(label)).to.equal(price.unitPrice);
      expect(resolution).to.equal(wanted.resolution ?? null);
    });
  }

  /** The default, or a size, for models that sell only some labels. */
  const nearest: readonly [labels: readonly string[], Wanted, label: string][] = [
    [['720p'], {}, '720p'],
    [['480p', '720p'], {}, '720p'],
    [['4k'], {}, '4k'],
    [['768p', '1080p'], {}, '1080p'],
    [['2k', '720p'], {}, '720p'],
    [['2k', '480p'], {}, '2k'],
    [['768p', '1080p'], { size: '1280x720' }, '768p'],
    [['480p', '1080p'], { size: '1280x720' }, '480p'],
    [['480p'], { size: '8192x8192' }, '480p'],
    [['720p', '1080p'], { size: '900x900' }, '720p'],
  ];
  for (const [labels, wanted, label] of nearest) {
    it(`takes ${label} of ${labels} for ${JSON.stringify(wanted)}`, () => {
      const price = byResolution(Object.fromEntries(labels.map((name) => [name, '2'])));
      expect(terms(modelOf(price), wanted).asked.resolution).to.equal(label);
    });
  }

  /** Price, seconds, and what comes of them: amount, unit, price of the unit, option, and what the charge keeps. */
  const prices: readonly [VideoPrice, Wanted, string, string, string, string | null, string][] = [
    [HD, {}, '77.5', 'second', '15.5', '1080p', '{"second":{"1080p":"15500000"}}'],
    [HD, { seconds: 10, resolution: '720p' }, '80', 'second', '8', '720p', '{"second":{"720p":"8000000"}}'],
    [HD, { seconds: 4, size: '1280x720' }, '32', 'second', '8', '720p', '{"second":{"720p":"8000000"}}'],
    [FLAT, {}, '45', 'second', '9', null, '{"second":"9000000"}'],
    [FLAT, { seconds: 7, size: '320x240' }, '63', 'second', '9', null, '{"second":"9000000"}'],
    [EACH, {}, '90', 'request', '90', null, '{"request":"90000000"}'],
    [EACH, { seconds: 10 }, '90', 'request', '90', null, '{"request":"90000000"}'],
  ];
  for (const [price, wanted, amount, unit, unitPrice, option, kept] of prices) {
    it(`costs ${amount} RUB for ${JSON.stringify(wanted)} at ${kept}`, () => {
      const found = terms(modelOf(price), wanted);
      expect(found.price).to.deep.equal({ amount: rub(amount), unit, unitPrice: rub(unitPrice), option });
      expect(found.prices).to.equal(kept);
    });
  }

  const seconds: readonly [offered: number[] | undefined, asked: number | undefined, found: number][] = [
    [undefined, undefined, 5],
    [undefined, 4, 4],
    [undefined, 10, 10],
    [[5, 10], undefined, 5],
    [[4, 8], undefined, 4],
    [[4, 6], undefined, 4],
    [[6, 10], undefined, 6],
    [[8], undefined, 8],
    [[5, 10], 10, 10],
  ];
  for (const [offered, asked, found] of seconds) {
    it(`takes ${found} s for ${asked} of ${offered}`, () => {
      const model = modelOf(FLAT, offered && { seconds: offered });
      expect(terms(model, asked === undefined ? {} : { seconds: asked }).asked.seconds).to.equal(found);
    });
  }

  it('sends a size as it is to a model that has no labels, and none of them', () => {
    const { asked } = terms(modelOf(FLAT), { size: '640x368' });
    expect(asked).to.deep.equal({
      seconds: 5,
      size: { width: 640, height: 368 },
      aspect: '16:9',
      resolution: null,
    });
    expect(terms(modelOf(FLAT), { aspect: '9:16' }).asked.size).to.deep.equal({ width: 1080, height: 1920 });
  });

  it('has the labels of its routes where one price is for all', () => {
    const options = [{ resolutions: { '720p': 'std', '1080p': 'pro' } }, { resolutions: { '1080p': 'hd' } }, {}];
    const routes = options.map((each) => ({ options: each })) as unknown as VideoModel['routes'];
    const model = modelOf(EACH, { routes });
    expect(terms(model, {}).asked.resolution).to.equal('1080p');
    expect(terms(model, { resolution: '720p' })).to.nested.include({
      'asked.resolution': '720p',
      'price.option': null,
    });
    expect(() => terms(model, { resolution: '4k' })).to.throw('only 720p, 1080p.');
  });

  it('offers the aspects of the model, the nearest of them by default', () => {
    const tall = modelOf(FLAT, { aspects: ['9:16', '1:1'] });
    expect(terms(tall, {}).asked.aspect).to.equal('1:1');
    expect(terms(tall, { aspect: '9:16' }).asked.aspect).to.equal('9:16');
    expect(terms(tall, { size: '1920x1080' }).asked.aspect).to.equal('1:1');
    expect(terms(modelOf(FLAT, { aspects: ['21:9'] }), {}).asked.aspect).to.equal('21:9');
  });

  it('offers what can be asked for', () => {
    expect(listOffers(modelOf(HD, { seconds: [5, 10], aspects: ['1:1'] }))).to.deep.equal({
      seconds: [5, 10],
      resolutions: ['720p', '1080p'],
      aspects: ['1:1'],
    });
    const { aspects, seconds: all, resolutions } = listOffers(modelOf(FLAT));
    for (const each of all) expect(terms(modelOf(FLAT), { seconds: each }).asked.seconds).to.equal(each);
    for (const aspect of aspects) expect(terms(modelOf(FLAT), { aspect }).asked.aspect).to.equal(aspect);
    expect(all).to.deep.equal([4, 5, 6, 7, 8, 9, 10]);
    expect([aspects.length, resolutions]).to.deep.equal([5, []]);
  });

  const refused: readonly [VideoModel, Wanted, field: string, message: string][] = [
    [modelOf(HD), { resolution: '4k' }, 'resolution', 'Invalid `resolution`: this model offers only 720p, 1080p.'],
    [modelOf(HD), { resolution: '768p' }, 'resolution', 'Invalid `resolution`: this model offers only 720p, 1080p.'],
    [modelOf(FLAT), { resolution: '720p' }, 'resolution', 'Invalid `resolution`: this model has none to choose from.'],
    [
      modelOf(FLAT, { seconds: [5, 10] }),
      { seconds: 6 },
      'seconds',
      'Invalid `seconds`: this model offers only 5, 10.',
    ],
    [modelOf(FLAT, { seconds: [8] }), { seconds: 5 }, 'seconds', 'Invalid `seconds`: this model offers 8.'],
    [
      modelOf(FLAT),
      { aspect: '21:9' },
      'aspect',
      'Invalid `aspect`: this model offers only 1:1, 16:9, 9:16, 4:3, 3:4.',
    ],
    [modelOf(FLAT, { aspects: ['16:9'] }), { aspect: '1:1' }, 'aspect', 'Invalid `aspect`: this model offers 16:9.'],
  ];
  for (const [model, wanted, field, message] of refused) {
    it(`refuses ${JSON.stringify(wanted)}: ${message}`, () => {
      expect(() => terms(model, wanted))
        .to.throw(message)
        .with.nested.property('data.detail.field', field);
    });
  }
});
