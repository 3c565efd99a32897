// The recordings that ship: enough of each vendor, of good and of bad days, each with the address of what it was shaped after.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { loadRecordings, type Recording } from '../../../lib/plugin/check/recording.ts';

const PROVIDERS = fileURLToPath(new URL('../../../providers/', import.meta.url));
const RECORDINGS_MIN = 12;
/** What every vendor has a bad day with. */
const KINDS = ['request', 'auth', 'quota', 'rate', 'missing', 'server'];
const EMPTY = ['empty', 'truncated', 'protocol'];

const MOST = { files: 4, lines: 150 };
/** What the folders that are more than a vendor's adapter may have; docs/providers.md says why. */
const LARGER = new Map([
  ['gemini', { files: 5, lines: 330 }],
  ['sandbox', { files: 9, lines: 785 }],
]);

function expectationsOf({ expect }: Recording): readonly { fault?: string; about?: string; finish?: string }[] {
  return [expect, ...('states' in expect ? (expect.states ?? []) : [])];
}

const folders = readdirSync(PROVIDERS).sort();

describe('a provider that ships', () => {
  it('is a vendor, or one of the few folders that are more', () => {
    expect(folders).to.include.members([...LARGER.keys()]);
  });

  for (const name of folders) {
    it(`is one folder of few short files: ${name}`, () => {
      const most = LARGER.get(name) ?? MOST;
      const all = readdirSync(`${PROVIDERS}${name}`, { recursive: true, encoding: 'utf8' });
      const files = all.filter((file) => /\.[cm]?[jt]s$/.test(file));
      expect(files.length).to.be.at.most(most.files);
      const lines = files.map((file) => readFileSync(`${PROVIDERS}${name}/${file}`, 'utf8').split('\n').length - 1);
      expect(lines.reduce((sum, count) => sum + count)).to.be.at.most(most.lines);
    });
  }
});

describe('recordings that ship', () => {
  for (const name of folders.filter((folder) => existsSync(`${PROVIDERS}${folder}/fixtures`))) {
    const recordings = loadRecordings(`${PROVIDERS}${name}`);
    const expected = recordings.flatMap(expectationsOf);

    it(`are at least ${RECORDINGS_MIN} of ${name}, refusals of every kind, empty and filtered answers among them`, () => {
      expect(recordings.length).to.be.at.least(RECORDINGS_MIN);
      const faults = new Set(expected.map(({ fault }) => fault));
      expect(KINDS.filter((kind) => !faults.has(kind))).to.deep.equal([]);
      expect(EMPTY.some((kind) => faults.has(kind))).to.equal(true);
      const isFiltered = expected.some(({ about, finish }) => about === 'content' || finish === 'filter');
      expect(isFiltered).to.equal(true);
    });

    it(`name where they are from, each of ${name} by itself`, () => {
      for (const { name: what, source, about } of recordings) {
        const { protocol, hostname } = new URL(source);
        expect(protocol, what).to.equal('https:');
        expect(hostname, what)
          .to.match(/\.[a-z]{2,}$/)
          .and.not.match(/(^|\.)(example|localhost|invalid|test)(\.|$)/);
        // The mark of what is only shaped after its source says how far that goes.
        if (about?.includes('family')) expect(about, what).to.match(/family: \S.{8,}/);
      }
      const names = recordings.map(({ name: what }) => what);
      expect(names.filter((what, at) => names.indexOf(what) !== at)).to.deep.equal([]);
    });
  }
});
