// An interrupted archive continues only with its own file and cutoff, and a failed one leaves nothing behind. Calls of
// running gateways come first.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { ARCHIVE_DAYS_MIN, archiveLedger } from '../../lib/ledger/archive.ts';
import type { Archive } from '../../lib/store/ports/archives.ts';
import type { JournalPage } from '../../lib/store/ports/journal.ts';
import { type FaultyStore, openFaultyStore, refuse } from '../../testkit/faulty-store.ts';
import { rejection } from '../contract/store/context.ts';
import { ago, DAY, expectClean, type Folder, history, makeFolder, NOW } from './archive-rig.ts';

describe('an archive of old calls', () => {
  let folder: Folder;
  let faulty: FaultyStore;
  beforeEach(async () => {
    folder = makeFolder();
    faulty = await openFaultyStore();
    await history(faulty.real, 2);
  });
  afterEach(async () => {
    await expectClean(faulty.real);
    await faulty.close();
    folder.remove();
  });

  const archive = (name: string, days = 40) =>
    archiveLedger(faulty.store, { before: ago(days), file: folder.file(name), now: () => NOW });
  async function refused(work: Promise<unknown>): Promise<string> {
    const error = await rejection(work);
    expect(error).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  }
  const statesOf = async () => (await faulty.real.archives.list()).map(({ state }) => state);

  it('takes calls that ended 35 days ago, and none that are younger', async () => {
    expect(ARCHIVE_DAYS_MIN).to.equal(35);
    const at = (before: number) =>
      archiveLedger(faulty.store, { before, file: folder.file(`${before}.gz`), now: () => NOW });
    expect(await refused(at(NOW - 35 * DAY + 1))).to.contain(
      `35 days old: now those before ${new Date(NOW - 35 * DAY).toISOString().slice(0, 10)}`,
    );
    expect(await at(NOW - 35 * DAY)).to.include({ state: 'done' });
  });

  it('continues only with the cutoff that it was started with', async () => {
    faulty.next('archives.remove', refuse);
    await rejection(archive('calls.gz'));
    expect(await refused(archive('calls.gz', 41))).to.match(/is unfinished: repeat that one\.$/);
    expect(await archive('calls.gz')).to.include({ state: 'done' });
  });

  it('removes no calls if another archive has replaced its file', async () => {
    await archive('earlier.gz', 140);
    faulty.next('archives.remove', refuse);
    await rejection(archive('calls.gz'));
    copyFileSync(folder.file('calls.gz'), folder.file('kept.gz'));
    copyFileSync(folder.file('earlier.gz'), folder.file('calls.gz'));
    const before = await faulty.real.journal.size();
    expect(await refused(archive('calls.gz'))).to.match(/is not the archive that its calls were written to/);
    expect(await faulty.real.journal.size()).to.deep.equal(before);
    copyFileSync(folder.file('kept.gz'), folder.file('calls.gz'));
    expect(await archive('calls.gz')).to.include({ state: 'done' });
  });

  it('does not accept a file that another archive has written', async () => {
    const { before, file } = (await archive('calls.gz')) as Archive;
    const empty = { sha256: null, calls: 0, entries: 0, charged: 0n, first: null, last: null };
    await faulty.real.archives.begin({ id: 'arc_other', before, file, startedAt: NOW, state: 'writing', ...empty });
    expect(await refused(archive('calls.gz'))).to.match(/already exists\.$/);
    expect(await statesOf()).to.have.members(['done', 'writing']);
    await faulty.real.archives.drop('arc_other');
  });

  it('leaves no file and no row in the store if it cannot be written', async () => {
    expect(await refused(archive(join('missing', 'calls.gz')))).to.match(/cannot be written: ENOENT\.$/);
    expect([await statesOf(), readdirSync(folder.path)]).to.deep.equal([[], []]);
    expect(await archive('calls.gz')).to.include({ state: 'done' });
    expect(readdirSync(folder.path)).to.deep.equal(['calls.gz']);
  });

  it('leaves no file and no row in the store if there is nothing to archive', async () => {
    expect(await archive('calls.gz', 300)).to.equal(undefined);
    expect([await statesOf(), readdirSync(folder.path)]).to.deep.equal([[], []]);
  });

  it('takes nothing of a ledger that does not add up', async () => {
    const changed = (change: (page: JournalPage) => JournalPage) =>
      faulty.always('journal.walletPage', async (call) => change((await call()) as JournalPage));
    const first = <Row>([row, ...others]: readonly Row[], more: Partial<Row>): Row[] => [
      { ...(row as Row), ...more },
      ...others,
    ];
    changed((page) => ({ ...page, entries: first(page.entries, { avail: 1n }) }));
    const before = await faulty.real.journal.size();
    expect(await refused(archive('calls.gz'))).to.match(
      /^The ledger does not add up: wallet acc_\w+, .+\. See "ledger verify"\.$/,
    );
    changed((page) => ({ ...page, charges: first(page.charges, { state: 'refunded' }) }));
    expect(await refused(archive('calls.gz'))).to.match(/^The ledger does not add up: wallet /);
    faulty.always('journal.walletPage', undefined);
    expect([await statesOf(), readdirSync(folder.path)]).to.deep.equal([[], []]);
    expect(await faulty.real.journal.size()).to.deep.equal(before);
  });

  it('pauses after each removal as long as that took', async () => {
    await history(faulty.real, 2);
    const tookMs = 150;
    const times: { readonly begun: number; readonly ended: number }[] = [];
    faulty.always('archives.remove', async (call) => {
      const begun = performance.now();
      await new Promise((resolve) => setTimeout(resolve, tookMs));
      const result = await call();
      times.push({ begun, ended: performance.now() });
      return result;
    });
    await archive('calls.gz');
    const [first, second] = times;
    expect((second?.begun ?? 0) - (first?.ended ?? 0)).to.be.least(tookMs - 1);
  });

  it('says how far it has come, up to the entries of all archived calls', async () => {
    const seen: number[] = [];
    const { entries } = await faulty.real.journal.size();
    const onProgress = ({ done, total, unit }: { done: number; total: number; unit: string }) => {
      if (unit === 'entries' && total === entries) seen.push(done);
    };
    const file = folder.file('calls.gz');
    const archived = await archiveLedger(faulty.store, { before: ago(40), file, now: () => NOW, onProgress });
    expect(seen.at(-1)).to.equal(archived?.entries);
    expect(seen).to.deep.equal(seen.toSorted((one, other) => one - other));
  });

  it('never replaces a file that appears in the meantime', async () => {
    const file = folder.file('calls.gz');
    const onProgress = () => writeFileSync(file, 'mine');
    const options = { before: ago(40), file, now: () => NOW };
    expect(await refused(archiveLedger(faulty.store, { ...options, onProgress }))).to.match(/EEXIST/);
    expect(readFileSync(file, 'utf8')).to.equal('mine');
    rmSync(file);
    expect(await archive('calls.gz')).to.include({ state: 'done' });
  });
});
