// The guide's upstreams by nock, as pasted, in front of the shipped catalog.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { CHAT } from '../../testkit/client.ts';
import { itLong } from '../../testkit/long.ts';
import { type Home, makeHome, openBooks, startService } from '../../testkit/process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('upstreams mocked with nock', () => {
  let folder: string;
  let home: Home;

  before(() => {
    // Below the checkout, which has nock.
    mkdirSync(join(ROOT, '.cache'), { recursive: true });
    folder = mkdtempSync(join(ROOT, '.cache/nock-'));
    home = makeHome();
    cpSync(join(ROOT, 'catalog'), join(home.folder, 'catalog'), { recursive: true });
  });
  after(() => {
    rmSync(folder, { recursive: true });
    home.remove();
  });

  itLong('serve a whole gateway, as the guide says', async () => {
    const guide = readFileSync(join(ROOT, 'docs/providers.md'), 'utf8');
    const code = /^## Upstreams in your own tests\n.*?^```js\n(.*?)^```/ms.exec(guide)?.[1] ?? '';
    const file = join(folder, 'upstreams.mjs');
    writeFileSync(file, code);
    const service = await startService(home, { env: { OPENAI_API_KEY: 'any' }, flags: ['--import', file] });
    const books = await openBooks(home);
    try {
      const { key } = await books.account();
      const reply = await fetch(`${service.url}${CHAT}`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'smart', messages: [{ role: 'user', content: 'Hi' }] }),
      });
      expect(reply.status).to.equal(200);
      const { choices } = (await reply.json()) as { choices: { message: { content: string } }[] };
      expect(choices[0]?.message.content).to.equal('Hello.');
      await books.checkMoney();
    } finally {
      await books.close();
      await service.stop();
    }
  });
});
