// Videos by the official client, of today and of yesterday: by its general methods, and what its own for videos are told.
import { expect } from 'chai';
import type OpenAI from 'openai';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { download, imageCatalog } from '../../testkit/images.ts';
import { catchRejection, OPENAI_SDKS } from './stage.ts';

interface Video {
  readonly id: string;
  readonly status: string;
  readonly url?: string | null;
  readonly balance_rub?: number;
}

for (const sdk of OPENAI_SDKS) {
  describe(`videos of ${sdk.name}`, () => {
    let gateway: TestGateway;
    let account: TestAccount;
    let client: OpenAI;

    before(async () => {
      gateway = await startGateway({ catalog: imageCatalog('http://127.0.0.1:9'), env: { VIDEO_POLL_MS: '20' } });
    });
    beforeEach(async () => {
      account = await gateway.account();
      client = sdk.open(gateway, account);
    });
    afterEach(() => gateway.checkMoney());
    after(() => gateway.stop());

    const look = (id: string) => client.get<Video>('/videos', { query: { id } });

    it('are started and polled', async () => {
      const body = { model: 'film', prompt: 'a red square', seconds: 4 };
      let video = await client.post<Video>('/videos', { body });
      expect(video).to.include({ status: 'queued', balance_rub: 991 });
      while (video.status === 'queued' || video.status === 'processing') {
        await new Promise((resolve) => setTimeout(resolve, 100));
        video = await look(video.id);
      }
      expect(video.status).to.equal('completed');
      expect((await download(video.url ?? '')).type).to.equal('video/mp4');
    });

    it('are refused with a message that says what to send, and cost nothing', async () => {
      const unknown = await catchRejection(look('vid_1'));
      expect([unknown.status, unknown.message]).to.deep.equal([404, '404 This account has no video with this id.']);
      const body = { model: 'film', prompt: 'x', seconds: 'four' };
      const wrong = await catchRejection(client.post('/videos', { body }));
      expect([wrong.status, wrong.message]).to.deep.equal([
        400,
        '400 Invalid `seconds`: must be a whole number from 4 to 10.',
      ]);
      // Its own method sends a form.
      const { videos } = client as Partial<OpenAI>;
      if (videos) {
        const form = await catchRejection(videos.create({ model: 'film', prompt: 'x' }));
        expect([form.status, form.message]).to.deep.equal([
          415,
          '415 Unsupported content-type: send the body as `application/json`.',
        ]);
      }
      expect((await gateway.wallet(account)).avail).to.equal(1_000_000_000n);
    });

    it('are listed among the models, with their price', async () => {
      const models = [];
      for await (const model of client.models.list()) models.push(model);
      const { id, type, endpoint, unit, price_rub } = models.find((model) => model.id === 'film') as never as Listed;
      expect({ id, type, endpoint, unit, price_rub }).to.deep.equal({
        id: 'film',
        type: 'video',
        endpoint: '/v1/videos',
        unit: 'request',
        price_rub: 9,
      });
    });
  });
}

interface Listed {
  readonly id: string;
  readonly type: string;
  readonly endpoint: string;
  readonly unit: string;
  readonly price_rub: number;
}
