// Copies of media files: a lost file is skipped, a refusal of the target is not.
import { expect } from 'chai';
import { StoreError } from '../../lib/store/store.ts';
import type { FaultyStore } from '../../testkit/faulty-store.ts';
import { rejection } from '../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';
import { useCopies } from './copies.ts';

describe('copy of media files', () => {
  let from: FaultyStore;
  let to: FaultyStore;

  const { copy } = useCopies((opened) => {
    ({ source: from, target: to } = opened);
  });

  it('fails if the target cannot store a file, and continues with that file', async () => {
    const { id } = await from.real.media.write(newMedia({ expiresAt: Date.now() + 3_600_000 }), piecesOf(PNG));
    const error = new StoreError('not this one', 'no', undefined, 'batch');
    to.next('media.write', () => Promise.reject(error));
    expect(await rejection(copy())).to.equal(error);
    expect(await copy()).to.include({ media: 1, resumed: true });
    expect((await bytesOf(to.real, id)).equals(PNG)).to.equal(true);
  });

  it('skips a file that expires while it is copied', async () => {
    await from.real.media.write(newMedia({ expiresAt: Date.now() + 3_600_000 }), piecesOf(PNG));
    from.next('media.read', () => Promise.reject(new StoreError('gone', 'no', undefined, 'batch')));
    expect(await copy()).to.include({ media: 0 });
    expect(await to.real.media.page({ limit: 10 })).to.deep.equal([]);
  });
});
