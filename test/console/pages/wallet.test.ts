// The ledger entries on the wallet page: newest first, the calls of a day in one row, two hundred entries per page.
import { expect } from 'chai';
import { HOUR_MS } from '../../../lib/base/durations.ts';
import { findDayStart, formatDay } from '../../../lib/money/days.ts';
import type { Operation } from '../../../lib/money/decide.ts';
import { adjust, applied, appliedInBatches, giveBack } from '../../contract/store/context.ts';
import { openPages, type Pages } from '../stage.ts';

const PATH = '/account/wallet';

describe('the list of wallet entries', () => {
  let pages: Pages;

  before(async () => {
    pages = await openPages();
  });
  after(() => pages.close());

  const changesIn = (text: string) =>
    [...text.matchAll(/>\+₽([\d,.]+)</g)].map(([, sum]) => Number(sum?.replace(',', '')));

  it('shows two hundred per page, newest first, with a link to older ones', async () => {
    const owner = await pages.owner();
    const sums = Array.from({ length: 200 }, (_, number) => number + 1);
    const { real } = pages.faults;
    await appliedInBatches(
      real,
      sums.map((sum) => adjust(owner.account, BigInt(sum) * 1_000_000n)),
    );
    const first = await owner.get(PATH);
    expect(changesIn(first.text)).to.deep.equal(sums.toReversed());
    const [, older = ''] = /href="([^"]+)" rel="next">Older entries/.exec(first.text) ?? [];
    const second = await owner.get(older);
    // The opening entry.
    expect(changesIn(second.text)).to.deep.equal([1000]);
    expect(second.text).not.to.contain('Older entries').and.not.to.contain('No entries yet.');
    expect(second.text).to.contain('<dt>Corrections by the operator</dt><dd>₽20,100.00');
  });

  it('folds the calls of a day into one row, with a link to them, until something else comes between', async () => {
    const owner = await pages.owner();
    const { real } = pages.faults;
    const end = findDayStart(formatDay(Date.now(), 'Europe/Moscow'), 'Europe/Moscow');
    const call = { kind: 'charge', chargeKind: 'image', model: 'm', prices: '{}', key: 'key_1' } as const;
    const pay = (hour: number, amount: bigint) =>
      applied(real, {
        ...{ ...call, wallet: owner.account, at: end - (24 - hour) * HOUR_MS, amount },
        chargeId: `c${hour}-${owner.account}`,
      });
    for (const hour of [-2, 1, 2]) await pay(hour, 1_234_000n);
    await applied(real, { ...adjust(owner.account, 7_000_000n), at: end - 20 * HOUR_MS } as Operation);
    for (const hour of [5, 6, 7]) await pay(hour, 500_000n);
    await applied(real, giveBack('refund', owner.account, `c-2-${owner.account}`, { at: end - 16 * HOUR_MS }));
    const day = formatDay(end - HOUR_MS, 'Europe/Moscow');
    const { text } = await owner.get(PATH);
    const rows = [...text.slice(text.indexOf('Ledger entries')).matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)];
    const plain = rows.map(([, row = '']) =>
      row
        .replaceAll(/<\/td>/g, '|')
        .replaceAll(/<[^>]+>/g, '')
        .replaceAll('\u00a0', ' '),
    );
    expect(plain.slice(1, 6).map((row) => row.replace(/^[^|]*?(\d\d:\d\d)/, '$1'))).to.deep.equal([
      '08:00|refund|+₽1.23|—|−₽1.23|',
      '05:00 – 07:00|calls: 3|−₽1.50|—|+₽1.50|',
      '04:00|correction by the operator|+₽7.00|—|—|',
      '01:00 – 02:00|calls: 2|−₽2.47|—|+₽2.47|',
      '22:00|charge|−₽1.23|—|+₽1.23|',
    ]);
    expect(text).to.contain(`<a href="/account/calls?from=${day}&amp;to=${day}">calls: 3</a>`);
  });

  it('stays with the chosen account on further pages', async () => {
    const owner = await pages.owner();
    const { real } = pages.faults;
    const user = (await real.users.find(owner.email))?.id ?? '';
    const other = await pages.faults.wallet(1007n);
    await real.users.join({ user, account: other, role: 'owner' });
    await appliedInBatches(
      real,
      Array.from({ length: 200 }, () => adjust(other, 1_000_000n)),
    );
    const { text } = await owner.get(`${PATH}?account=${other}`);
    const older = /href="([^"]+)" rel="next">Older entries/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(older).to.contain(`account=${other}`);
    expect(changesIn((await owner.get(older)).text)).to.deep.equal([1007]);
  });
});
