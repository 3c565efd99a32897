import { expect } from 'chai';
import type { VideoCall } from '../../../lib/upstream/contract/provider.ts';
import { findAskedSize, resolveResolution } from '../../../lib/upstream/host/resolutions.ts';

const WIDE = { width: 1920, height: 1080 };
const TALL = { width: 1080, height: 1920 };
const SQUARE = { width: 1080, height: 1080 };

const told = (named: unknown, size = WIDE, otherwise?: string, resolution: string | null = '1080p') =>
  resolveResolution({ resolution, size, options: { resolutions: named } } as unknown as VideoCall, 'size', otherwise);

const asked = (named: unknown, size = WIDE) =>
  findAskedSize({ resolution: '1080p', size, options: { resolutions: named } } as unknown as VideoCall);

describe('the resolution of a video', () => {
  it('is a size in pixels where the route names some, and else that of the call', () => {
    const odd = { width: 1936, height: 1088 };
    expect(asked({ '1080p': '1936x1088' })).to.deep.equal(odd);
    expect(asked({ '1080p': '1936*1088' }, TALL)).to.deep.equal({ width: 1088, height: 1936 });
    expect(asked({ '1080p': { mode: 'pro', ratio: '1936:1088' } })).to.deep.equal(odd);
    for (const table of [{ '1080p': 'FHD' }, { '720p': '1280x720' }, { '1080p': { ratio: '16:9' } }, undefined]) {
      expect(asked(table), JSON.stringify(table)).to.deep.equal(WIDE);
    }
  });

  it('is spelled as the route says, or as the plugin does', () => {
    expect(told({ '1080p': 'FHD' })).to.deep.equal({ size: 'FHD' });
    expect(told({ '1080p': 'FHD' }, WIDE, 'auto', null)).to.deep.equal({ size: 'auto' });
    for (const table of [{ '720p': 'HD' }, {}, undefined, null, ['FHD'], { '1080p': 7 }]) {
      expect(told(table, WIDE, 'auto'), JSON.stringify(table)).to.deep.equal({ size: 'auto' });
      expect(told(table), JSON.stringify(table)).to.deep.equal({});
    }
    for (const label of ['toString', '__proto__', 'constructor']) {
      expect(told({ '720p': 'HD' }, WIDE, 'auto', label), label).to.deep.equal({ size: 'auto' });
    }
  });

  it('may be in fields of its own', () => {
    expect(told({ '1080p': { quality: 'pro', seed: undefined, area: 2 } }, WIDE, 'auto')).to.deep.equal({
      quality: 'pro',
      area: 2,
    });
  });

  it('is turned to the orientation of the call', () => {
    const rows = [
      ['1920x1080', WIDE, '1920x1080'],
      ['1920x1080', TALL, '1080x1920'],
      ['1080*1920', WIDE, '1920*1080'],
      ['1080*1920', TALL, '1080*1920'],
      ['1920x1080', SQUARE, '1920x1080'],
      ['1080x1080', TALL, '1080x1080'],
      ['16:9', TALL, '16:9'],
      ['720p', TALL, '720p'],
      ['1920 to 1080', TALL, '1920 to 1080'],
    ] as const;
    for (const [value, size, turned] of rows) {
      expect(told({ '1080p': value }, size)).to.deep.equal({ size: turned });
      expect(told({ '1080p': { area: value } }, size)).to.deep.equal({ area: turned });
    }
  });
});
