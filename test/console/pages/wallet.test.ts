// The ledger entries on the wallet page: newest first, fifty per page.
import { expect } from 'chai';
import { adjust, appliedInBatches } from '../../contract/store/context.ts';
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

  it('shows fifty per page, newest first, with a link to older ones', async () => {
    const owner = await pages.owner();
    const sums = Array.from({ length: 50 }, (_, number) => number + 1);
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
    expect(second.text).to.contain('<dt>Corrections by the operator</dt><dd>₽1,275.00');
  });

  it('stays with the chosen account on further pages', async () => {
    const owner = await pages.owner();
    const { real } = pages.faults;
    const user = (await real.users.find(owner.email))?.id ?? '';
    const other = await pages.faults.wallet(1007n);
    await real.users.join({ user, account: other, role: 'owner' });
    await appliedInBatches(
      real,
      Array.from({ length: 50 }, () => adjust(other, 1_000_000n)),
    );
    const { text } = await owner.get(`${PATH}?account=${other}`);
    const older = /href="([^"]+)" rel="next">Older entries/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(older).to.contain(`account=${other}`);
    expect(changesIn((await owner.get(older)).text)).to.deep.equal([1007]);
  });
});
