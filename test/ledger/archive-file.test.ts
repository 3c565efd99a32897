// A damaged archive file is rejected with the problem: every wallet in it, and the file itself, must be complete.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { verifyArchive, writeArchive } from '../../lib/ledger/archive-file.ts';
import { openFaultyStore } from '../../testkit/faulty-store.ts';
import { rejection } from '../contract/store/context.ts';
import { ago, type Folder, history, makeFolder } from './archive-rig.ts';

describe('the file of an archive of two wallets', () => {
  let folder: Folder;
  let file: string;
  let lines: readonly string[];

  before(async () => {
    folder = makeFolder();
    file = folder.file('whole.gz');
    const faulty = await openFaultyStore();
    for (let count = 0; count < 2; count += 1) await history(faulty.real, 2);
    await archiveLedger(faulty.store, { before: ago(40), file });
    await faulty.close();
    lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n');
  });
  after(() => folder.remove());

  const isOf = (kind: string) => (line: string) => line.startsWith(`{"${kind}":`);
  const without = (at: number) => lines.toSpliced(at, 1);
  const twice = (at: number) => lines.toSpliced(at, 0, lines[at] as string);
  const stops = (what: RegExp, instead: string) =>
    lines.map((line) => (isOf('stop')(line) ? line.replace(what, instead) : line));
  const moveEntry = (line: string) => {
    const { call } = JSON.parse(line);
    const [entry, ...others] = call.entries;
    return JSON.stringify({ call: { ...call, entries: [{ ...entry, wallet: 'acc_other' }, ...others] } });
  };
  const damages: Readonly<Record<string, readonly [says: RegExp, change: () => readonly string[]]>> = {
    'its first wallet does not end': [/the calls of \w+ do not end/, () => without(lines.findIndex(isOf('stop')))],
    'its last wallet does not end': [/the calls of \w+ do not end/, () => without(lines.findLastIndex(isOf('stop')))],
    'a wallet has no start': [/is not among those of/, () => without(lines.findIndex(isOf('start')))],
    'an entry of a call is of another wallet': [
      /an entry of the call \w+ is not of \w+/,
      () => lines.map((line) => (isOf('call')(line) ? moveEntry(line) : line)),
    ],
    'a call is there twice': [/is there twice/, () => twice(lines.findIndex(isOf('call')))],
    'a wallet ends twice': [/do not begin/, () => twice(lines.findIndex(isOf('stop')))],
    'a wallet has fewer calls than it says': [/calls of \w+ instead of 99\./, () => stops(/"calls":\d+/, '"calls":99')],
    'a call is behind the opening': [/is behind its opening at 3/, () => stops(/"seq":\d+/, '"seq":3')],
    'its end is missing': [/its end is missing/, () => without(lines.length - 1)],
    'it ends twice': [/lines behind its end/, () => twice(lines.length - 1)],
    'its beginning is missing': [/does not begin like an archive/, () => without(0)],
  };
  for (const [name, [says, change]] of Object.entries(damages)) {
    it(`is refused because ${name}`, async () => {
      const path = folder.file(`${name}.gz`);
      writeFileSync(path, gzipSync(`${change().join('\n')}\n`));
      const error = await rejection(verifyArchive(path));
      expect(error).to.be.instanceOf(OperatorError).with.property('message').that.matches(says);
    });
  }

  it('counts its wallets, calls and entries', async () => {
    const { wallets, calls, entries } = (await verifyArchive(file)).totals;
    expect([wallets, calls, entries]).to.deep.equal([2, 8, 16]);
  });

  it('is readable only by its owner, and never overwrites a file', async () => {
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const before = readFileSync(file);
    const writer = writeArchive(file, { tollgate: 'ledger archive', version: 1, id: 'arc_2', before: 1 });
    expect(await rejection(writer.end())).to.have.property('code', 'EEXIST');
    expect(readFileSync(file).equals(before)).to.equal(true);
  });
});
