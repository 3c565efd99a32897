// Which archives may contain a call, by the time in its id, and up to when the calls of a wallet are in archives.
import { expect } from 'chai';
import { findArchived, findLatestArchiveDate } from '../../lib/ledger/archive-find.ts';
import type { Archive, ArchiveStore, Opening } from '../../lib/store/ports/archives.ts';
import type { Store } from '../../lib/store/store.ts';

const FIRST = 1_800_000_000_000;
const LAST = FIRST + 86_400_000;
const TEN_MINUTES_MS = 600_000;

const ARCHIVE: Archive = {
  id: 'arc',
  file: '/nowhere/archive.gz',
  before: LAST + 5,
  state: 'done',
  startedAt: 1,
  sha256: 's',
  calls: 1,
  entries: 2,
  charged: 1n,
  first: FIRST,
  last: LAST,
};
const idAt = (at: number) => `req_${at.toString(16).padStart(12, '0')}abcdef`;

function storeOf(list: readonly Archive[], opening?: Opening): Pick<Store, 'archives'> {
  const archives: Partial<ArchiveStore> = { list: async () => list, opening: async () => opening };
  return { archives: archives as ArchiveStore };
}

describe('an archive', () => {
  const cases: readonly (readonly [name: string, id: string, more: Partial<Archive>, mayHave: boolean])[] = [
    ['of the time of a call', idAt(FIRST + 5), {}, true],
    ['whose last call it is', idAt(LAST), {}, true],
    ['whose calls all began before it', idAt(LAST + 1), {}, false],
    ['whose first call may have arrived ten minutes before', idAt(FIRST - TEN_MINUTES_MS), {}, true],
    ['whose calls all arrived later', idAt(FIRST - TEN_MINUTES_MS - 1), {}, false],
    ['when an id says nothing of its time', 'call-7', {}, true],
    ['that is leaving', idAt(FIRST), { state: 'leaving' }, true],
    ['that is being written', idAt(FIRST), { state: 'writing' }, false],
    ['that has no calls', idAt(FIRST), { first: null, last: null }, false],
  ];
  for (const [name, id, more, mayHave] of cases) {
    it(`${mayHave ? 'may contain' : 'cannot contain'} a call: one ${name}`, async () => {
      const archive = { ...ARCHIVE, ...more };
      const wanted = mayHave ? { archive, call: undefined } : undefined;
      expect(await findArchived(storeOf([archive]), id)).to.deep.equal(wanted);
    });
  }

  it('contains the calls of a wallet that ended before the latest cutoff of all written archives', async () => {
    const opening = { wallet: 'w' } as Opening;
    const list: readonly Archive[] = [
      { ...ARCHIVE, before: 50 },
      { ...ARCHIVE, before: 70, state: 'leaving' },
      { ...ARCHIVE, before: 60 },
      { ...ARCHIVE, before: 90, state: 'writing' },
    ];
    expect(await findLatestArchiveDate(storeOf(list, opening), 'w')).to.equal(70);
    expect(await findLatestArchiveDate(storeOf(list), 'w'), 'a wallet of which nothing left').to.equal(undefined);
  });
});
