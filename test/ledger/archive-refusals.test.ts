// An archive that was interrupted goes on only with its own file and time, and one that failed leaves nothing behind.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { ARCHIVE_DAYS_MIN, archiveLedger } from '../../lib/ledger/archive.ts';
import type { Archive } from '../../lib/store/ports/archives.ts';
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

  it('may have calls that ended 35 days ago, and none that are younger', async () => {
    expect(ARCHIVE_DAYS_MIN).to.equal(35);
    const at = (before: number) =>
      archiveLedger(faulty.store, { before, file: folder.file(`${before}.gz`), now: () => NOW });
    expect(await refused(at(NOW - 35 * DAY + 1))).to.contain('35 days old');
    expect(await at(NOW - 35 * DAY)).to.include({ state: 'done' });
  });

  it('goes on only for the time that it was begun for', async () => {
    faulty.next('archives.remove', refuse);
    await rejection(archive('calls.gz'));
    expect(await refused(archive('calls.gz', 41))).to.match(/is unfinished: repeat that one\.$/);
    expect(await archive('calls.gz')).to.include({ state: 'done' });
  });

  it('takes no calls away for another archive in the place of its file', async () => {
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

  it('does not take a file for its own that another archive has written', async () => {
    const { before, file } = (await archive('calls.gz')) as Archive;
    const empty = { sha256: null, calls: 0, entries: 0, charged: 0n, first: null, last: null };
    await faulty.real.archives.begin({ id: 'arc_other', before, file, startedAt: NOW, state: 'writing', ...empty });
    expect(await refused(archive('calls.gz'))).to.match(/already exists\.$/);
    expect(await statesOf()).to.have.members(['done', 'writing']);
    await faulty.real.archives.drop('arc_other');
  });

  it('that cannot be written leaves no file and no trace in the store', async () => {
    expect(await refused(archive(join('missing', 'calls.gz')))).to.match(/cannot be written: ENOENT\.$/);
    expect([await statesOf(), readdirSync(folder.path)]).to.deep.equal([[], []]);
    expect(await archive('calls.gz')).to.include({ state: 'done' });
    expect(readdirSync(folder.path)).to.deep.equal(['calls.gz']);
  });

  it('that finds nothing to take leaves no file and no trace either', async () => {
    expect(await archive('calls.gz', 300)).to.equal(undefined);
    expect([await statesOf(), readdirSync(folder.path)]).to.deep.equal([[], []]);
  });

  it('replaces no file that somebody makes in its place meanwhile', async () => {
    const file = folder.file('calls.gz');
    const onProgress = () => writeFileSync(file, 'mine');
    const options = { before: ago(40), file, now: () => NOW };
    expect(await refused(archiveLedger(faulty.store, { ...options, onProgress }))).to.match(/EEXIST/);
    expect(readFileSync(file, 'utf8')).to.equal('mine');
    rmSync(file);
    expect(await archive('calls.gz')).to.include({ state: 'done' });
  });
});
