// Copies of more rows than a page has: none is left out, and a change of the last one is detected.
import { expect } from 'chai';
import type { Job } from '../../lib/money/job-rules.ts';
import type { Store } from '../../lib/store/store.ts';
import type { FaultyStore } from '../../testkit/faulty-store.ts';
import { itLong } from '../../testkit/long.ts';
import { AT, adjust, appliedInBatches, rejection } from '../contract/store/context.ts';
import { chargeWithJob } from '../contract/store/jobs.ts';
import { newMedia, piecesOf } from '../contract/store/media.ts';
import { newWebhook } from '../contract/store/payments.ts';
import { useCopies } from './copies.ts';

/** More than two pages of the most rows that a copy reads at once. */
const MANY = 401;
const MANY_WALLETS = 1001;
const MANY_FILES = 201;

describe('copy of many pages', () => {
  let from: FaultyStore;
  let to: FaultyStore;
  let wallet: string;

  const { copy } = useCopies((opened) => {
    ({ source: from, target: to, wallet } = opened);
  });
  const many = (length = MANY) => Array.from({ length }, (_, index) => index);
  const idOf = (index: number) => `id_${String(index).padStart(4, '0')}`;

  const repeatOf = (id: string) => ({
    id,
    wallet,
    charge: `req_${id}`,
    body: 'hash-1',
    awaited: true,
    reply: null,
    expiresAt: AT,
  });
  const alertOf = (account: string) => ({ account, balanceBelow: null, budgets: true, webhook: null, version: 1 });

  it('copies idempotency records, alerts, webhooks and jobs', async () => {
    const { alerts, idempotency, payments } = from.real;
    await idempotency.put(many().map((index) => repeatOf(idOf(index))));
    for (const index of many()) {
      await alerts.put(alertOf(idOf(index)), []);
    }
    await payments.put(
      'notices',
      many().map((index) => newWebhook({ id: idOf(index) })),
    );
    await appliedInBatches(
      from.real,
      many().map(() => chargeWithJob(wallet)),
    );
    await copy();
    const all = { limit: 9999 };
    const rowsOf = (store: Store) =>
      Promise.all([
        store.idempotency.page(all),
        store.alerts.page(all),
        store.payments.page('notices', all),
        store.jobs.page(all),
      ]);
    const rows = await rowsOf(from.real);
    expect(rows.map((list) => list.length)).to.deep.equal([MANY, MANY, MANY, MANY]);
    expect(await rowsOf(to.real)).to.deep.equal(rows);
  });

  itLong('copies media files', async () => {
    const expiresAt = Date.now() + 3_600_000;
    for (const index of many(MANY_FILES)) {
      await from.real.media.write(newMedia({ expiresAt }), piecesOf(Buffer.from(`${index}`)));
    }
    expect(await copy()).to.include({ media: MANY_FILES });
    expect(await to.real.media.page({ limit: 9999 })).to.deep.equal(await from.real.media.page({ limit: 9999 }));
  });

  describe('is refused if the last row changes meanwhile', () => {
    /** The error of a copy if a row changes before its last check. */
    async function refusal(change: () => Promise<unknown>): Promise<string> {
      from.next('settings.list', async (list) => {
        await change();
        return list();
      });
      return String(await rejection(copy()));
    }

    it('of the webhooks', async () => {
      const webhooks = many().map((index) => newWebhook({ id: idOf(index) }));
      const { payments } = from.real;
      await payments.put('notices', webhooks);
      const last = idOf(MANY - 1);
      const said = await refusal(() => payments.setWebhookVerdict(last, { verdict: 'done', detail: '' }));
      expect(said).to.include('The source changed during the copy (notices)');
    });

    it('of the jobs', async () => {
      const charges = many().map(() => chargeWithJob(wallet));
      await appliedInBatches(from.real, charges);
      const { id } = (await from.real.jobs.page({ limit: 9999 })).at(-1) as Job;
      const change = { kind: 'reroute', id, version: 1, at: AT, upstream: 'up-2' } as const;
      const said = await refusal(() => from.real.jobs.change(change));
      expect(said).to.include('The source changed during the copy (jobs)');
    });

    it('of the wallets', async () => {
      const { accounts, ledger } = from.real;
      const last = 'zzz';
      const autoTopup = { enabled: false, amount: 0n, threshold: 0n };
      const ids = [...many(MANY_WALLETS).map(idOf), last];
      await accounts.put(ids.map((id) => ({ id, name: 'n', createdAt: AT, autoTopup })));
      const said = await refusal(() => ledger.apply([adjust(last, 1n)]));
      expect(said).to.include(`The source changed during the copy (account ${last})`);
    });
  });
});
