// Linked images: our own links are read from the store, others are fetched.
import { expect } from 'chai';
import { sniffImage } from '../../lib/base/sniff.ts';
import { createImage, type Image } from '../../lib/media/image.ts';
import { readLinkedImage } from '../../lib/media/linked.ts';
import { PNG } from './sample-images.ts';

const OWN = 'https://gateway.example/media/own.png';

describe('a linked image', () => {
  let read: string[];
  let released: number;
  let call: AbortController;
  /** What happens while the store reads. */
  let meanwhile: () => void;

  const made = (): Image => {
    const sniffed = sniffImage(PNG);
    if (!sniffed) throw new Error('no image');
    const release = () => {
      released += 1;
    };
    return createImage({ bytes: PNG, release }, sniffed);
  };
  const means = {
    results: {
      readLinkId: (url: string) => (url === OWN ? 'own' : undefined),
      readImage: async (id: string, { field }: { readonly field: string }) => {
        read.push(`${field}: stored ${id}`);
        meanwhile();
        return made();
      },
    },
    fetcher: () => ({
      fetchImage: async (url: string, { field }: { readonly field: string }) => {
        read.push(`${field}: fetched ${url}`);
        return made();
      },
    }),
  };
  const readUrl = (url: string) => readLinkedImage(means, url, { field: 'FIELD', signal: call.signal });

  beforeEach(() => {
    [read, released, call, meanwhile] = [[], 0, new AbortController(), () => undefined];
  });

  it('is read from the store if the link is ours, and fetched otherwise', async () => {
    expect((await readUrl(OWN)).bytes).to.equal(PNG);
    expect((await readUrl('https://images.net/a.png')).bytes).to.equal(PNG);
    expect(read).to.deep.equal(['FIELD: stored own', 'FIELD: fetched https://images.net/a.png']);
    expect(released).to.equal(0);
  });

  it('is released if its call ends while it is read', async () => {
    const reason = new Error('the client left');
    meanwhile = () => call.abort(reason);
    expect(await readUrl(OWN).catch((error: unknown) => error)).to.equal(reason);
    expect(released).to.equal(1);
  });
});
