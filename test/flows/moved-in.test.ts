// A client of another gateway after the move: the same key, the same model, and the prices of its group, on both stores.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { ask, CHAT, MESSAGES, send } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { runCommand } from '../cli/command.ts';
import type { StoreDatabase } from '../contract/store/context.ts';
import { NEW_API, OLD_KEYS } from '../moving/new-api.ts';

for (const kind of longer([SQLITE], STORES)) {
  describe(`a client that moved in: ${kind.name}`, () => {
    let upstream: TestUpstream;
    let database: StoreDatabase;
    let gateway: TestGateway;

    before(async () => {
      upstream = await startUpstream();
      database = await kind.create();
      const env = { NEW_API_7_1_API_KEY: 'sk-one', NEW_API_7_2_API_KEY: 'sk-two', NEW_API_8_API_KEY: 'sk-deep' };
      gateway = await startGateway({ catalog: { models: [] }, database: database.url, env });
    });
    after(async () => {
      await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    const chat = (key: string, model: string) =>
      send(`${gateway.url}${CHAT}`, { key: `sk-${key}`, body: { ...ask('hi'), model } });

    it('calls with its old key, and pays from its old balance', async () => {
      const file = join(gateway.folder, 'new-api.db');
      const db = new DatabaseSync(file);
      db.exec(NEW_API.replace('http://127.0.0.1:4010/', upstream.url));
      db.close();
      const out = join(gateway.folder, 'moved');
      mkdirSync(out);
      const env = { ...process.env, DATABASE_URL: database.url, DATA_DIR: gateway.folder, CATALOG_DIR: out };
      const command = [
        'import',
        'new-api',
        file,
        '--rate',
        '80',
        '--catalog-out',
        join(out, 'imported.json'),
        '--json',
      ];
      const { code, stdout, stderr } = await runCommand(command, env);
      expect([code, stderr]).to.deep.equal([0, '']);
      const [ann] = JSON.parse(stdout).accounts;
      gateway.writeCatalog(JSON.parse(readFileSync(join(out, 'imported.json'), 'utf8')));
      await gateway.gateway.reload();

      const reply = await chat(OLD_KEYS[0], 'gpt-4o');
      expect(reply.status, reply.text).to.equal(200);
      expect(upstream.calls.at(-1)?.body).to.include({ model: 'up-4o' });
      expect(upstream.calls.at(-1)?.request.headers.authorization).to.match(/^Bearer sk-(one|two)$/);
      const wallet = await gateway.store.ledger.wallet(ann.account_id);
      expect(wallet).to.deep.include({ charged: 500_000n, avail: 95_500_000n, topped: 0n });
      const [call] = await gateway.store.ledger.charges(ann.account_id, { limit: 1 });
      expect(JSON.parse(call?.prices ?? '{}')).to.deep.include({ input: '170000000', output: '680000000' });
      await gateway.checkMoney();
    });

    it('is bound by the limits of its old keys', async () => {
      expect((await chat(OLD_KEYS[1], 'gpt-4o')).status, 'from another address').to.equal(403);
      expect((await chat('other', 'gpt-4o')).status).to.equal(401);
      const direct = { headers: { 'x-api-key': `sk-${OLD_KEYS[0]}` }, body: { ...ask('hi'), model: 'deepseek-chat' } };
      const reply = await send(`${gateway.url}${MESSAGES}`, direct);
      expect(reply.status, reply.text).to.equal(200);
      await gateway.checkMoney();
    });
  });
}
