import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { sniffImage } from '../../lib/base/sniff.ts';
import { createImage, type Image } from '../../lib/media/image.ts';
import {
  type FetchReference,
  fetchReferences,
  type RequestImage,
  releaseImages,
  toProviderImage,
} from '../../lib/media/reference.ts';
import { PNG } from './sample-images.ts';

describe('references', () => {
  const released: string[] = [];
  const imageOf = (name: string): Image => {
    const sniffed = sniffImage(PNG);
    if (!sniffed) throw new Error('no image');
    return createImage({ bytes: PNG, release: () => void released.push(name) }, sniffed);
  };
  const link = (name: string): RequestImage => ({ type: 'image', field: name, source: `https://x/${name}` });
  const { signal } = new AbortController();
  beforeEach(() => {
    released.length = 0;
  });

  it('are fetched if they are links, four at a time', async () => {
    let [now, most] = [0, 0];
    const fetch: FetchReference = async (url, { field }) => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now -= 1;
      expect(url).to.equal(`https://x/${field}`);
      return imageOf(field);
    };
    const images = [...'abcdef'].map(link);
    const inline: RequestImage = { type: 'image', field: 'inline', source: imageOf('inline') };
    const fetched = await fetchReferences([...images, inline], fetch, signal);
    expect([...fetched.keys()].map(({ field }) => field).sort()).to.deep.equal([...'abcdef']);
    expect(most).to.equal(4);
    expect((await fetchReferences([inline], fetch, signal)).size).to.equal(0);
    expect(toProviderImage(inline)).to.deep.equal({
      mediaType: 'image/png',
      bytes: PNG,
      size: { width: 2, height: 3 },
    });
    expect(() => toProviderImage(link('a'))).to.throw('the image a was not fetched');
  });

  it('are all released if one fails, without waiting for the others', async () => {
    const aborted: string[] = [];
    const fetch: FetchReference = async (_url, { field, signal: each }) => {
      if (field === 'a') return imageOf(field);
      if (field === 'b') {
        await new Promise((resolve) => setTimeout(resolve, 20));
        throw new Error('no b');
      }
      return new Promise((_resolve, reject) => {
        each.addEventListener('abort', () => {
          aborted.push(field);
          reject(each.reason);
        });
      });
    };
    const failed = await fetchReferences([...'abcde'].map(link), fetch, signal).catch(({ message }: Error) => message);
    expect([failed, released, aborted.sort()]).to.deep.equal(['no b', ['a'], ['c', 'd', 'e']]);
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('are also released if they arrive after a failure', async () => {
    let later = (_image: Image) => {};
    const fetch: FetchReference = async (_url, { field }) => {
      if (field === 'a') throw new Error('no a');
      return new Promise((resolve) => {
        later = resolve;
      });
    };
    const failing = fetchReferences([...'ab'].map(link), fetch, signal).catch(({ message }: Error) => message);
    await new Promise((resolve) => setImmediate(resolve));
    later(imageOf('b'));
    expect([await failing, released]).to.deep.equal(['no a', ['b']]);
  });

  it('release the memory of images that were read, and nothing for links', () => {
    const read = (name: string): RequestImage => ({ type: 'image', field: name, source: imageOf(name) });
    releaseImages([read('a'), link('b'), read('c')]);
    expect(released).to.deep.equal(['a', 'c']);
  });

  it('end when the signal aborts', async () => {
    const controller = new AbortController();
    const fetch: FetchReference = (_url, { signal: each }) =>
      new Promise((_resolve, reject) => each.addEventListener('abort', () => reject(each.reason)));
    setTimeout(() => controller.abort('gone'), 10);
    const ended = await fetchReferences([link('a')], fetch, controller.signal).catch((reason: unknown) => reason);
    expect(ended).to.equal('gone');
  });
});
