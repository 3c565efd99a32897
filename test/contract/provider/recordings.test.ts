// The recordings that ship: enough of each vendor, of good and of bad days, each with the address of what it was shaped after.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { loadRecordings, type Recording } from '../../../lib/upstream/check/recording.ts';

const PROVIDERS = fileURLToPath(new URL('../../../providers/', import.meta.url));
const RECORDINGS_MIN = 12;
/** What every vendor has a bad day with. */
const KINDS = ['request', 'auth', 'quota', 'rate', 'missing', 'server'];
const EMPTY = ['empty', 'truncated', 'protocol'];
/** Of what no vendor has a page: docs/providers.md says what each is. Everything else has been seen somewhere. */
const CONSTRUCTED = /^constructed: (cut|lacking|rubbish|unknown|way), \S.{8,}/;
/** What every vendor of text answers on bad days, by status or by what it is taken for. */
const BAD_DAYS: Readonly<Record<string, (recording: Recording) => boolean>> = {
  'a bad request': ({ reply }) => reply.status === 400,
  'a key': ({ reply }) => [401, 403].includes(reply.status),
  quota: ({ expect }) => expect.fault === 'quota',
  'a path or a model': ({ reply }) => reply.status === 404,
  'too long': ({ reply, expect }) => reply.status === 413 || expect.about === 'length',
  'too many': ({ reply }) => reply.status === 429,
  failure: ({ reply }) => reply.status === 500,
  overload: ({ reply }) => [503, 529].includes(reply.status),
  'an empty answer': ({ expect }) =>
    expect.fault === 'empty' || ('finish' in expect && expect.finish === 'stop' && expect.text === ''),
  'a filtered answer': ({ expect }) => 'finish' in expect && expect.finish === 'filter',
};
/** Searched for, and neither on a page of the vendor nor with its users. */
const UNHEARD_OF: Readonly<Record<string, readonly string[]>> = {
  gigachat: ['overload'],
  // A model that is unknown is a 400 there.
  yandex: ['quota', 'a path or a model'],
};

function expectationsOf({ expect }: Recording): readonly { fault?: string; about?: string; finish?: string }[] {
  return [expect, ...('states' in expect ? (expect.states ?? []) : [])];
}

const folders = readdirSync(PROVIDERS).sort();

describe('recordings that ship', () => {
  for (const name of folders.filter((folder) => existsSync(`${PROVIDERS}${folder}/fixtures`))) {
    const recordings = loadRecordings(`${PROVIDERS}${name}`);
    const expected = recordings.flatMap(expectationsOf);

    it(`are at least ${RECORDINGS_MIN} of ${name}, refusals of every kind, empty and filtered answers among them`, () => {
      expect(recordings.length).to.be.at.least(RECORDINGS_MIN);
      const faults = new Set(expected.map(({ fault }) => fault));
      const needed = KINDS.filter((kind) => !UNHEARD_OF[name]?.includes(kind));
      expect(needed.filter((kind) => !faults.has(kind))).to.deep.equal([]);
      expect(EMPTY.some((kind) => faults.has(kind))).to.equal(true);
      const isFiltered = expected.some(({ about, finish }) => about === 'content' || finish === 'filter');
      expect(isFiltered).to.equal(true);
    });

    it(`are shaped after what was seen, but for what nobody documents: ${name}`, () => {
      const constructed = recordings.filter(({ about }) => about?.startsWith('constructed'));
      for (const { name: what, about, reply } of constructed) {
        expect(about, what).to.match(CONSTRUCTED);
        // A refusal is the vendor's own word.
        expect(reply.status, what).to.be.below(400);
      }
      expect(recordings.length - constructed.length).to.be.at.least(RECORDINGS_MIN);
    });

    if (recordings.some(({ kind }) => kind === 'text')) {
      it(`have the bad days of a vendor of text: ${name}`, () => {
        const seen = Object.keys(BAD_DAYS).filter((day) => recordings.some((one) => BAD_DAYS[day]?.(one)));
        expect(seen).to.have.members(Object.keys(BAD_DAYS).filter((day) => !UNHEARD_OF[name]?.includes(day)));
      });
    }

    it(`name where they are from, each of ${name} by itself`, () => {
      for (const { name: what, source, about } of recordings) {
        const { protocol, hostname } = new URL(source);
        expect(protocol, what).to.equal('https:');
        expect(hostname, what)
          .to.match(/\.[a-z]{2,}$/)
          .and.not.match(/(^|\.)(example|localhost|invalid|test)(\.|$)/);
        // Further sources stand in the text.
        for (const url of about?.match(/https?:\S*[^\s,.;]/g) ?? []) expect(URL.canParse(url), what).to.equal(true);
      }
      const names = recordings.map(({ name: what }) => what);
      expect(names.filter((what, at) => names.indexOf(what) !== at)).to.deep.equal([]);
    });
  }
});
