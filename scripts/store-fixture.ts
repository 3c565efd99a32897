// Writes the stores that this version leaves behind for the tests of later ones:
// npm run store:fixture -- 1.0.0
// RELEASING.md says when. A fixture is never written again: later code makes other stores.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../lib/store/open.ts';
import { readContents } from '../test/store/contents.ts';
import { fillEveryTable } from '../test/store/everything.ts';
import { writeFixture } from '../test/store/fixture.ts';
import { startReplicaSet } from '../testkit/replica-set.ts';
import { readWords } from './options.ts';

const [release = ''] = readWords(['the version']);
if (!/^\d+\.\d+\.\d+$/.test(release)) throw new Error('usage: npm run store:fixture -- VERSION');

const folder = mkdtempSync(join(tmpdir(), 'tollgate-fixture-'));
const set = await startReplicaSet({ members: 1 });
try {
  const files = { 'sqlite.db': join(folder, 'sqlite.db'), 'backup.db': join(folder, 'backup.db') };
  const sqlite = await openStore(`sqlite:${files['sqlite.db']}`);
  await fillEveryTable(sqlite);
  const mongodb = await openStore(set.url('fixture'));
  await fillEveryTable(mongodb);
  await mongodb.backup(files['backup.db']);
  const expected = { sqlite: await readContents(sqlite), mongodb: await readContents(mongodb) };
  await sqlite.close();
  await mongodb.close();
  await writeFixture(release, { files, mongodb: set.url('fixture'), expected });
} finally {
  await set.stop();
  rmSync(folder, { recursive: true });
}
