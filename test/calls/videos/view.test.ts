// Whose video an id names, and which ids the store is asked for.
import { expect } from 'chai';
import { isFault } from '../../../lib/base/faults.ts';
import { toVideoId } from '../../../lib/calls/videos/job-id.ts';
import { findVideo } from '../../../lib/calls/videos/view.ts';

const ID = toVideoId('req_0123456789abcdef0123456789abcdef');

describe('findVideo', () => {
  async function find(id: string, account: string) {
    const asked: string[] = [];
    const jobs = {
      get: async (wanted: string) => {
        asked.push(wanted);
        return wanted === ID ? { id: ID, wallet: 'owner' } : undefined;
      },
    };
    const code = await findVideo({ jobs } as never, { id, account }).then(
      (job) => job.id,
      (error: unknown) => isFault(error) && error.data?.code,
    );
    return { code, asked };
  }

  it('finds a video for its account alone', async () => {
    expect(await find(ID, 'owner')).to.deep.equal({ code: ID, asked: [ID] });
    expect(await find(ID, 'another')).to.deep.equal({ code: 'unknown_video', asked: [ID] });
  });

  it('asks the store for nothing that no video can be called', async () => {
    for (const id of ['', 'vid_', `${ID}/`, `x${ID}`, 'x'.repeat(100_000)]) {
      expect(await find(id, 'owner')).to.deep.equal({ code: 'unknown_video', asked: [] });
    }
  });
});
