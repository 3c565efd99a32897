// `tollgate ledger archive`: old calls move to a file, and commands that list calls say so.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { ago, history, NOW } from '../ledger/archive-rig.ts';
import { createRig, type Rig, runCommand } from './command.ts';

const day = (days: number) => new Date(ago(days)).toISOString().slice(0, 10);

describe('cli ledger archive', () => {
  let rig: Rig;
  let wallet: string;
  let old: readonly string[];
  let file: string;

  before(async () => {
    rig = await createRig();
    await rig.json('account', 'create', '--name', 'first');
    file = join(rig.folder, 'calls.gz');
    const store = await openStore(rig.databaseUrl);
    ({ wallet, old } = await history(store));
    await store.close();
  });
  after(() => rig.close());

  it('refuses invalid requests and changes nothing', async () => {
    expect(await rig.refused(2, 'ledger', 'archive')).to.include('--before and --to are needed');
    expect(await rig.refused(1, 'ledger', 'archive', '--before', day(20), '--to', file)).to.include('35 days');
    expect(await rig.refused(1, 'ledger', 'archive', 'verify', file)).to.include(file);
    const nowhere = join(rig.folder, 'nowhere', 'calls.gz');
    expect(await rig.refused(1, 'ledger', 'archive', '--before', day(40), '--to', nowhere)).to.equal(
      `tollgate: The archive ${nowhere} cannot be written: ENOENT.\n`,
    );
    expect(existsSync(file)).to.equal(false);
    expect(await rig.json('ledger', 'archive', 'list')).to.deep.equal({ archives: [] });
    expect(await rig.text('ledger', 'archive', 'list')).to.equal('No archives.\n');
  });

  it('moves old calls into a file that verifies, and changes nothing else', async () => {
    const usage = await rig.json('usage', wallet, '--by', 'model');
    const shown = await rig.json('wallet', 'show', wallet);
    const done = await rig.json('ledger', 'archive', '--before', day(40), '--to', file);
    expect(done).to.include({ archived: true, file, state: 'done', calls: old.length - 1 });
    const verified = await rig.json('ledger', 'archive', 'verify', file);
    expect(verified).to.include({ ok: true, calls: done.calls, sha256: done.sha256, charged_rub: done.charged_rub });
    expect(verified).to.include({ compared: true });
    const said = await rig.text('ledger', 'archive', 'verify', file);
    expect(said)
      .to.match(/^archive +adds up$/m)
      .and.match(/^store +has noted the same$/m);
    const elsewhere = await runCommand(['ledger', 'archive', 'verify', file], {
      ...rig.env,
      DATABASE_URL: `${rig.databaseUrl}.none`,
    });
    expect(elsewhere.stdout).to.match(/^store +none that knows it$/m);
    // Packed again, it still adds up, but it is another file.
    const other = join(rig.folder, 'again.gz');
    writeFileSync(other, gzipSync(gunzipSync(readFileSync(file)), { level: 1 }));
    expect(await rig.refused(1, 'ledger', 'archive', 'verify', other))
      .to.include('the store has')
      .and.include(done.sha256);
    expect(await rig.json('ledger', 'verify')).to.include({ ok: true });
    expect(await rig.json('usage', wallet, '--by', 'model')).to.deep.equal(usage);
    expect(await rig.json('wallet', 'show', wallet)).to.deep.equal(shown);
    const { archives } = (await rig.json('ledger', 'archive', 'list')) as { archives: { file: string }[] };
    expect(archives.map((archive) => archive.file)).to.deep.equal([file]);
    const { first, last } = done as { first: string; last: string };
    expect(Date.parse(first)).to.be.below(Date.parse(last));
    expect(Date.parse(last)).to.be.below(Date.parse(`${day(40)}T00:00:00Z`));
    expect(await rig.text('ledger', 'archive', 'list')).to.match(
      new RegExp(
        `^before +state +calls +charged +file\n${day(40)}T00:00:00\\.000Z +done +${done.calls} +[\\d.]+ RUB +${file}\n`,
      ),
    );
    expect(await rig.json('ledger', 'archive', '--before', day(40), '--to', `${file}.2`)).to.deep.equal({
      archived: false,
      calls: 0,
    });
    expect(existsSync(`${file}.2`)).to.equal(false);
  });

  it('is mentioned in lists of calls', async () => {
    const note = `Calls that ended before ${day(40)}T00:00:00.000Z are archived: tollgate ledger archive list`;
    expect(await rig.text('charge', 'list', wallet)).to.include(note);
    expect(await rig.text('usage', wallet, '--state', 'settled')).to.include(note);
    expect(await rig.text('usage', wallet)).to.not.include('archived');
    expect(await rig.text('ledger', 'list', wallet)).to.match(/Up to entry \d+, entries of calls are archived/);
    expect(await rig.json('ledger', 'list', wallet))
      .to.have.property('archived_to')
      .that.is.above(1);
    expect(await rig.text('charge', 'list', 'first')).to.not.include('archived');
  });

  it('shows an archived call from its file, or names the missing file', async () => {
    const [id = ''] = old;
    expect(await rig.json('charge', 'show', id)).to.include({ request_id: id, state: 'settled', archived: file });
    expect(await rig.text('charge', 'show', id)).to.include(`Archived in ${file}.`);
    renameSync(file, `${file}.away`);
    expect(await rig.refused(1, 'charge', 'show', id)).to.include(`the archive ${file}, which is not there`);
    renameSync(`${file}.away`, file);
    const never = `req_${NOW.toString(16).padStart(12, '0')}${'0'.repeat(20)}`;
    expect(await rig.refused(1, 'charge', 'show', never)).to.include('There is no charge');
  });
});
