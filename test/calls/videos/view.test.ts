// Whose video an id names, and which ids the store is asked for.
import { expect } from 'chai';
import { showsInEveryDialect } from '../../../lib/api/dialects/fault-details.ts';
import { isFault } from '../../../lib/base/faults.ts';
import { toVideoId } from '../../../lib/calls/videos/job-id.ts';
import { describeVideo, findVideo } from '../../../lib/calls/videos/view.ts';

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

  it('says so in every dialect: videos have no path of a dialect', async () => {
    const jobs = { get: async () => undefined };
    const refused = await findVideo({ jobs } as never, { id: ID, account: 'owner' }).catch((error: unknown) => error);
    expect(isFault(refused) && showsInEveryDialect(refused)).to.equal(true);
  });

  it('asks the store for nothing that no video can be called', async () => {
    for (const id of ['', 'vid_', `${ID}/`, `x${ID}`, 'x'.repeat(100_000)]) {
      expect(await find(id, 'owner')).to.deep.equal({ code: 'unknown_video', asked: [] });
    }
  });
});

describe('describeVideo', () => {
  const results = { buildLink: ({ id }: { id: string }) => `https://links.example/${id}` };
  const stored = JSON.stringify({ id: 'file', mediaType: 'video/mp4' });
  const view = (job: object) =>
    describeVideo({ id: ID, progress: 40, error: null, result: null, ...job } as never, results);

  it('shows a link once it is completed, and an error only when it failed', () => {
    const plain = { id: ID, progress: 40, url: null };
    for (const phase of ['submitting', 'running', 'storing']) {
      for (const shown of ['queued', 'processing']) {
        const seen = view({ phase, shown, result: stored, error: 'hidden' });
        expect(seen, phase).to.deep.equal({ ...plain, status: shown });
      }
    }
    expect(view({ phase: 'completed', shown: 'processing', result: stored })).to.deep.equal({
      ...plain,
      status: 'completed',
      url: 'https://links.example/file',
    });
    expect(view({ phase: 'completed', shown: 'processing' })).to.deep.equal({ ...plain, status: 'completed' });
    const failed = view({ phase: 'failed', shown: 'processing', error: 'No.', result: stored });
    expect(failed).to.deep.equal({ ...plain, status: 'failed', error: 'No.', refunded: true });
  });
});
