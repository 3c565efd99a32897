// Images by the official client, of today and of yesterday, unchanged: made, edited in every form a file may have.
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { toFile as toFileOld } from 'openai-v4';
import { send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { download, imageAnswer, imageCatalog } from '../../testkit/images.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { JPEG, PNG, png } from '../media/sample-images.ts';
import { catchRejection, OPENAI_SDKS } from './stage.ts';

const LARGE = png({ bytes: 3_000_000 });

for (const sdk of OPENAI_SDKS) {
  describe(`images of ${sdk.name}`, () => {
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;
    let client: OpenAI;
    let folder: string;

    before(async () => {
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: imageCatalog(upstream.url) });
      folder = mkdtempSync(join(tmpdir(), 'tollgate-images-'));
      writeFileSync(join(folder, 'large.png'), LARGE);
      writeFileSync(join(folder, 'small.jpg'), JPEG);
    });
    beforeEach(async () => {
      upstream.calls.length = 0;
      upstream.behave(imageAnswer(PNG));
      account = await gateway.account();
      client = sdk.open(gateway, account);
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      rmSync(folder, { recursive: true });
      await gateway.stop();
      await upstream.close();
    });

    const sentFiles = () => upstream.calls.at(-1)?.bytes as Buffer;
    const charged = async () => Number((await gateway.wallet(account)).charged) / 1e6;
    const firstLink = ({ data }: OpenAI.ImagesResponse) => data?.[0]?.url ?? '';

    it('makes one', async () => {
      const made = await client.images.generate({ model: 'draw', prompt: 'a hill', size: '1792x1024', n: 1 });
      expect(made.created).to.be.a('number');
      expect((await download(firstLink(made))).bytes.equals(PNG)).to.equal(true);
      expect(await charged()).to.equal(10);
    });

    it('edits a file that is streamed from disk', async () => {
      const image = createReadStream(join(folder, 'large.png'));
      const made = await client.images.edit({ model: 'draw', prompt: 'blue', image });
      expect((await download(firstLink(made))).bytes.equals(PNG)).to.equal(true);
      expect(sentFiles().includes(LARGE)).to.equal(true);
      expect(await charged()).to.equal(10);
    });

    it('edits several files that are streamed from disk', async () => {
      const image = ['large.png', 'small.jpg'].map((name) => createReadStream(join(folder, name)));
      await client.images.edit({ model: 'draw', prompt: 'blue', image, size: '1024x1024', n: 1 });
      // The old client sends them in the order in which it has read them.
      expect(sentFiles().includes(LARGE) && sentFiles().includes(JPEG)).to.equal(true);
    });

    it('edits files in memory', async () => {
      const make = sdk.name === 'openai 4' ? toFileOld : toFile;
      const image = await Promise.all([make(PNG, 'a.png', { type: 'image/png' }), make(JPEG, 'b')]);
      await client.images.edit({ model: 'draw', prompt: 'blue', image: image as File[] });
      expect(sentFiles().includes(PNG) && sentFiles().includes(JPEG)).to.equal(true);
      await client.images.edit({ prompt: 'blue', image: image[0] as File });
      expect(await charged()).to.equal(15);
    });

    it('is told what is wrong, and that the charge was refunded', async () => {
      const image = createReadStream(join(folder, 'small.jpg'));
      const refused = await catchRejection(client.images.edit({ model: 'plain', prompt: 'blue', image }));
      expect([refused.status, refused.message]).to.deep.equal([
        400,
        '400 Model `plain` makes images but does not edit them. Use `sketch`.',
      ]);
      upstream.behave(answerStatus(500));
      const failed = await catchRejection(client.images.generate({ model: 'draw', prompt: 'a hill' }));
      expect([failed.status, failed.message]).to.deep.equal([
        502,
        '502 The upstream provider failed. Charge refunded.',
      ]);
      expect(await charged()).to.equal(0);
    });

    it('makes one, edits what its link leads to, and asks a model about the edit', async () => {
      const made = await client.images.generate({ model: 'sketch', prompt: 'a red square', size: '1024x1024' });
      const key = account.key;
      const body = { model: 'sketch', prompt: 'a green frame', image: firstLink(made) };
      const edited = await send(`${gateway.url}/api/v1/images/edits`, { key, body });
      expect(edited.status, edited.text).to.equal(200);
      const { url } = edited.json.data[0];
      const content = [
        { type: 'text' as const, text: 'What is it?' },
        { type: 'image_url' as const, image_url: { url } },
      ];
      const seen = await client.chat.completions.create({ model: 'words', messages: [{ role: 'user', content }] });
      expect(seen.model).to.equal('eye');
      expect(seen.choices[0]?.message.content).to.match(/PNG/).and.to.match(/1024/);
    });
  });
}
