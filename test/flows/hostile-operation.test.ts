// What surrounds the service goes wrong: the disk of its log is full.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ask, findBilling, MESSAGES, parseEvents, send, until } from '../../testkit/client.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { type Books, type Child, type Home, makeHome, openBooks, spawnChild } from '../../testkit/process.ts';
import { startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const MAIN = fileURLToPath(new URL('../../lib/main.ts', import.meta.url));

describe('hostile operation', () => {
  let upstream: TestUpstream;
  let home: Home;
  let books: Books;
  let child: Child | undefined;

  before(async () => {
    upstream = await startUpstream();
  });
  beforeEach(async () => {
    home = makeHome(chatCatalog(upstream.url));
    books = await openBooks(home);
  });
  afterEach(async () => {
    child?.kill('SIGKILL');
    await child?.exit;
    await books.checkMoney();
    await books.close();
    home.remove();
  });
  after(() => upstream.close());

  async function freePort(): Promise<number> {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }

  itLong('answers, charges and stops although its log cannot be written', async () => {
    const port = await freePort();
    const account = await books.account();
    const env = { ...home.env, SANDBOX: 'off', PORT: String(port) };
    child = spawnChild('sh', ['-c', `exec "${process.execPath}" "${MAIN}" > /dev/full`], env);
    const url = `http://127.0.0.1:${port}`;
    const isUp = () =>
      send(`${url}/readyz`)
        .then(({ status }) => status === 200)
        .catch(() => false);
    await until(isUp, 15_000);
    for (let call = 0; call < 3; call += 1) {
      const { status, text } = await send(url + MESSAGES, { key: account.key, body: ask('hi', { stream: true }) });
      expect([status, findBilling(parseEvents(text)).charged_rub]).to.deep.equal([200, 0.5]);
      // Several flushes of the log.
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    child.kill('SIGTERM');
    const late = setTimeout(() => child?.kill('SIGKILL'), 8000);
    const { code, signal, stderr } = await child.exit;
    clearTimeout(late);
    expect([code, signal, stderr]).to.deep.equal([0, null, '']);
    expect(await books.wallet(account)).to.include({ held: 0n, charged: 1_500_000n });
  });
});
