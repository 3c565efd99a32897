import { expect } from 'chai';
import { isFault } from '../../lib/base/faults.ts';
import { createBudget } from './budget.ts';
import { reply } from './network.ts';
import * as files from './sample-images.ts';
import { chunked, createStage, drip, imageReply, MIB } from './stage.ts';

describe('media fetcher with a budget', () => {
  const { serve, fetchImage } = createStage();

  it('takes memory and returns it once, on release', async () => {
    const { state, budget } = createBudget(16 * MIB);
    const bytes = files.png({ bytes: MIB });
    for (const answer of [imageReply(bytes), chunked(bytes)]) {
      const image = await fetchImage(await serve(answer), { budget });
      expect(image.bytes.equals(bytes)).to.equal(true);
      expect(state.taken).to.be.within(MIB, 4 * MIB);
      image.release();
      image.release();
      expect([state.taken, image.bytes.length]).to.deep.equal([0, 0]);
    }
  });

  it('returns all memory if the image is refused', async () => {
    const { state, budget } = createBudget(32 * MIB);
    const cut = reply({ headers: { 'content-length': 1000 }, body: files.PNG });
    for (const answer of [imageReply(files.HTML), chunked(files.png({ bytes: 9 * MIB })), drip, cut]) {
      // Only the drip is to end by its time.
      const limits = { imageMs: answer === drip ? 300 : 30_000 };
      const thrown: unknown = await fetchImage(await serve(answer), { budget, limits }).catch((error) => error);
      expect(isFault(thrown)).to.equal(true);
    }
    expect(state.taken).to.equal(0);
    expect(state.most).to.be.above(8 * MIB);
  });

  it('answers 503 if there is no room, by the declared or the actual length', async () => {
    const { state, budget } = createBudget(MIB);
    const bytes = files.png({ bytes: 2 * MIB });
    for (const answer of [imageReply(bytes), chunked(bytes)]) {
      const thrown: unknown = await fetchImage(await serve(answer), { budget }).catch((error) => error);
      expect(isFault(thrown) && [thrown.data?.code, thrown.output.statusCode]).to.deep.equal(['no_room', 503]);
    }
    expect(state.taken).to.equal(0);
  });
});
