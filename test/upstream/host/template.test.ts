// What the host does for images and videos: the template of an input, and results where an upstream names them.
import { expect } from 'chai';
import type { ImageCall, VideoCall } from '../../../lib/upstream/contract/provider.ts';
import { readMediaSources } from '../../../lib/upstream/host/data-url.ts';
import { fillForImage, fillForVideo } from '../../../lib/upstream/host/template.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

describe('templates of an input', () => {
  const call: ImageCall = { model: 'm', options: {}, prompt: 'a {size} boat', images: [] };
  const size = { width: 1792, height: 1024 };
  const png = { mediaType: 'image/png', bytes: Buffer.from('hi') } as const;
  const fill = (template: object, more: Partial<ImageCall> = {}, sizeMap: Readonly<Record<string, string>> = {}) =>
    fillForImage({ ...call, ...more }, { ...template }, { sizeMap, base64 });

  it('take what the call has, in its own type, and words of a prompt are not filled in again', () => {
    expect(fill({ text: '{prompt}', w: '{width}', h: '{height}', s: '{size}' }, { size })).to.deep.equal({
      text: 'a {size} boat',
      w: 1792,
      h: 1024,
      s: '1792x1024',
    });
  });

  it('leave out what the call has not, with the object around it, and keep what is fixed', () => {
    const template = { shape: { width: '{width}' }, list: ['{aspect}', 1], none: null, fixed: {}, on: true };
    expect(fill(template)).to.deep.equal({ list: [1], none: null, fixed: {}, on: true });
    expect(fill({ a: '{aspect}' })).to.deep.equal({});
  });

  it('leave alone what is not one name by itself', () => {
    const template = { a: '{unknown}', b: 'x {prompt}', c: '{constructor}' };
    expect(fill(template)).to.deep.equal(template);
  });

  it('name sizes and aspects as the model does; a shape is a size, or else an aspect', () => {
    const template = { size: '{size}', aspect: '{aspect}', shape: '{shape}' };
    const sizeMap = { '1792x1024': 'wide', '16:9': 'landscape' };
    expect(fill(template, { size }, sizeMap)).to.deep.equal({ size: 'wide', shape: 'wide' });
    expect(fill({ shape: '{shape}' }, { size, aspect: '16:9' }, sizeMap)).to.deep.equal({ shape: 'wide' });
    expect(fill(template, { aspect: '16:9' }, sizeMap)).to.deep.equal({ aspect: 'landscape', shape: 'landscape' });
    expect(fill(template, { aspect: '4:3' }, sizeMap)).to.deep.equal({ aspect: '4:3', shape: '4:3' });
  });

  it('take images as data URLs, the first or all', () => {
    const url = 'data:image/png;base64,aGk=';
    expect(fill({ one: '{image}', all: '{images}' }, { images: [png, png] })).to.deep.equal({
      one: url,
      all: [url, url],
    });
  });
});

describe('templates of an input of video', () => {
  const image = { mediaType: 'image/png', bytes: Buffer.from('hi') } as const;
  const call: VideoCall = {
    model: 'm',
    options: { resolutions: { '720p': 'hd', '1080p': { mode: 'pro' } } },
    prompt: 'p',
    seconds: 5,
    size: { width: 720, height: 1280 },
    aspect: '9:16',
    resolution: '720p',
  };
  const how = { sizeMap: { '9:16': 'tall' }, base64 };
  const template = {
    t: '{prompt}',
    s: '{seconds}',
    d: '{duration}',
    w: '{width}',
    a: '{aspect}',
    r: '{resolution}',
    i: '{image}',
  };

  it('take what the call has', () => {
    expect(fillForVideo(call, template, how)).to.deep.equal({ t: 'p', s: 5, d: '5', w: 720, a: 'tall', r: 'hd' });
    expect(fillForVideo({ ...call, image }, { a: '{aspect}', i: '{image}' }, how)).to.deep.equal({
      a: 'tall',
      i: 'data:image/png;base64,aGk=',
    });
  });

  it('leave out the aspect beside an image where that has one already', () => {
    const filled = (more: object) =>
      fillForVideo({ ...call, ...more }, { a: '{aspect}' }, { ...how, isAspectOfImage: true });
    expect(filled({ image })).to.deep.equal({});
    expect(filled({})).to.deep.equal({ a: 'tall' });
  });

  it('take fields of their own that a route has for a resolution', () => {
    expect(fillForVideo({ ...call, resolution: '1080p' }, { r: '{resolution}' }, how)).to.deep.equal({ mode: 'pro' });
    expect(fillForVideo({ ...call, resolution: '480p' }, { r: '{resolution}' }, how)).to.deep.equal({ r: '480p' });
  });
});

describe('results of images', () => {
  const bytes = Buffer.from('hi');
  for (const [what, value, sources] of [
    ['a URL', 'https://a.example/1.png', [{ url: 'https://a.example/1.png' }]],
    ['a data URL', 'data:image/png;base64,aGk=', [{ bytes }]],
    ['an object with a URL', { url: 'http://a.example/1', width: 1 }, [{ url: 'http://a.example/1' }]],
    ['an object with a data URL', { url: 'data:;base64,aGk=' }, [{ bytes }]],
    ['a list of objects that name it', [{ image: { url: 'http://a.example/1' } }], [{ url: 'http://a.example/1' }]],
    [
      'an object of several names',
      { seed: 7, image: 'http://a.example/1', masks: ['http://a.example/2'], frames: { last: { url: 'data:,aGk=' } } },
      [{ url: 'http://a.example/1' }, { url: 'http://a.example/2' }, { bytes }],
    ],
    [
      'only the URL of an object with one',
      { url: 'http://a.example/1', page: 'http://a.example/2' },
      [{ url: 'http://a.example/1' }],
    ],
    ['a list', ['https://a.example/1', { url: 'data:,aGk=' }], [{ url: 'https://a.example/1' }, { bytes }]],
    ['capitals', 'HTTPS://a.example/1', [{ url: 'HTTPS://a.example/1' }]],
    ['neither', [null, undefined, 7, '', 'words', {}, { url: '' }, { url: 'ftp://a.example/1' }], []],
  ] as const) {
    it(`are found in ${what}`, () => expect(readMediaSources(value)).to.deep.equal(sources));
  }
});
