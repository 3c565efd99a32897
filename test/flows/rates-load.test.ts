// The rate of a currency moves while calls run: each is held, charged and booked by one rate, and the list of models
// follows every edit.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { verifyLedger } from '../../lib/ledger/audit.ts';
import type { Attempt } from '../../lib/money/attempt.ts';
import { ask, CHAT, findBilling, joinText, open, parseEvents, readHead, send, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { chatAnswer, chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const USAGE = { input: 10_000, output: 400 };
const EDITS_MIN = 10;
const SECONDS = longer(1, 5);
const PER_SECOND = 40;
/** What a call costs at 1 and 5 dollars per 1M tokens, in micro-dollars. */
const COST = 12_000n;

for (const kind of longer([SQLITE], STORES)) {
  describe(`rates that move under load on ${kind.name}`, function () {
    this.timeout(60_000);
    let database: StoreDatabase;
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      database = await kind.create();
      upstream = await startUpstream();
      gateway = await startGateway({ catalog: version(80), database: database.url });
      account = await gateway.account('1000000');
    });
    after(async () => {
      await gateway.checkMoney();
      await gateway.stop();
      await upstream.close();
      await database.remove();
    });

    /** The catalog at a rate of whole roubles; a price is one and a half times the cost. */
    function version(rub: number): object {
      const cost = { currency: 'USD', input: '1', output: '5' };
      return {
        rates: { USD: { rub: `${rub}`, from: '2026-01-01' } },
        pricing: { markup: '1.5' },
        upstreams: { up: { plugin: 'openai-compatible', settings: { baseUrl: `${upstream.url}/v1`, apiKey: 'k' } } },
        models: [{ id: 'model-a', type: 'text', provider: 'Test', routes: [{ upstream: 'up', model: 'm', cost }] }],
      };
    }
    const priceAt = (rub: number) => (BigInt(rub) * 1_000_000n * 3n) / 2n;
    async function move(rub: number): Promise<void> {
      gateway.writeCatalog(version(rub));
      expect(await gateway.gateway.reload()).to.equal(true);
    }

    /** The rate that a charge and its attempts were made at; fails if they are of several. */
    async function readRate(charge: string): Promise<number> {
      const [found, [attempt, ...more]] = (await Promise.all([
        gateway.store.ledger.charge(charge),
        gateway.store.attempts.list([charge]),
      ])) as [Awaited<ReturnType<typeof gateway.store.ledger.charge>>, Attempt[]];
      expect(more).to.deep.equal([]);
      const { input, output } = JSON.parse(found?.prices ?? '{}');
      const rub = Number((BigInt(input) * 2n) / 3n / 1_000_000n);
      expect([input, output]).to.deep.equal([`${priceAt(rub)}`, `${priceAt(rub) * 5n}`]);
      expect(found?.charged).to.equal((COST * BigInt(rub) * 3n) / 2n);
      expect(attempt?.certainty).to.equal('reported');
      expect(attempt?.cost).to.deep.include({
        cost: COST,
        costRub: COST * BigInt(rub),
        rate: BigInt(rub) * 1_000_000n,
      });
      return rub;
    }

    it('charges and books every call by one of them', async () => {
      upstream.behave(chatAnswer('hello', USAGE));
      const running: Promise<string>[] = [];
      const endAt = performance.now() + SECONDS * 1000;
      let edits = 0;
      // A busy machine takes longer for as many edits.
      const goesOn = () => performance.now() < endAt || edits < EDITS_MIN;
      const editing = (async () => {
        for (; goesOn(); edits += 1) {
          const rub = 80 + 2 * (edits % 40);
          await move(rub);
          const listed = await send(`${gateway.url}/api/v1/models`, { key: account.key });
          expect(listed.json.data[0]).to.include({ input_price_rub: rub * 1.5, output_price_rub: rub * 7.5 });
          await sleep(20);
        }
      })();
      while (goesOn()) {
        const body = ask('hi', { stream: running.length % 2 === 0 });
        running.push(
          send(gateway.url + CHAT, { key: account.key, body }).then(({ status, headers, text }) => {
            expect(status, text).to.equal(200);
            return String(headers['x-request-id']);
          }),
        );
        await sleep(1000 / PER_SECOND);
      }
      await editing;
      const rates = new Set<number>();
      for (const charge of await Promise.all(running)) rates.add(await readRate(charge));
      expect(rates.size, `of ${edits} edits`).to.be.above(5);
      expect(await verifyLedger(gateway.store)).to.include({ ok: true });
      const history = await gateway.store.rates.list();
      expect(history.length, `${edits} edits`).to.be.within(edits, edits + 1);
    });

    it('leaves a running call its price, its rate and its cost', async () => {
      await move(80);
      let end: () => void = () => undefined;
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.write(chatChunk('before '));
        end = () => void response.end(chatChunk('after') + chatEnd(USAGE));
      });
      const response = await readHead(
        open(gateway.url + CHAT, { key: account.key, body: ask('hi', { stream: true }) }),
      );
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      await until(() => Buffer.concat(chunks).includes('before'));
      await move(120);
      end();
      await new Promise((resolve) => response.once('end', resolve));
      const events = parseEvents(Buffer.concat(chunks).toString());
      expect(joinText(events)).to.equal('before after');
      expect(findBilling(events).charged_rub).to.equal(1.44);
      await until(
        async () => (await gateway.store.attempts.list([String(response.headers['x-request-id'])])).length > 0,
      );
      expect(await readRate(String(response.headers['x-request-id']))).to.equal(80);
    });
  });
}
