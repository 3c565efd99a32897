// Defects seeded into a good plugin, one changed line each: the contract suite finds every one with the fewest recordings
// that it asks for.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import type { Check } from '../../../lib/upstream/check/subject.ts';
import { superviseChecks, type Verdict } from '../../../lib/upstream/check/supervisor.ts';
import { itLong } from '../../../testkit/long.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { writeBusy } from './busy.ts';
import { CITING, DRAWING, MILL, MORE_RECORDINGS, RECORDINGS } from './mill.ts';
import { SEEDED_DEFECTS } from './seeded-defects.ts';

const ALL_RECORDINGS: readonly object[] = [...RECORDINGS, ...MORE_RECORDINGS];

/** Of a process that answers nothing. */
const BLOCKED = /blocks its process/;

describe('seeded defects of a provider', function () {
  this.timeout(60_000);
  let root: string;
  let count = 0;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'defects-'));
    await writeFile(join(root, 'package.json'), '{ "type": "module" }');
  });
  after(() => rm(root, { recursive: true }));

  /** Each folder is new, as modules load once. */
  async function write(plugin: string, recordings = ALL_RECORDINGS): Promise<string> {
    const folder = join(root, `${count++}`, 'mill');
    await mkdir(join(folder, 'fixtures'), { recursive: true });
    await writeFile(join(folder, 'index.js'), plugin);
    await writeFile(join(folder, 'fixtures', 'answers.json'), JSON.stringify(recordings));
    return folder;
  }

  /** The names of the checks that fail, of all or one. */
  async function failures(folder: string, only?: string): Promise<readonly string[]> {
    const checks = await collectChecks(folder);
    return runFailing(checks.filter(({ group, name }) => only === undefined || `${group}: ${name}` === only));
  }

  async function runFailing(checks: readonly Check[]): Promise<readonly string[]> {
    const failed: string[] = [];
    for (const { group, name, run } of checks) await run().catch(() => failed.push(`${group}: ${name}`));
    return failed;
  }

  it('are none in the plugin as it stands', async () => {
    expect(await failures(await write(MILL))).to.deep.equal([]);
  });

  for (const { what, from, to, failing, isLong } of SEEDED_DEFECTS) {
    const itSome = isLong ? itLong : itTimed;
    itSome(`are found: it ${what}`, async () => {
      expect(MILL.split(from)).to.have.length(2);
      expect(await failures(await write(MILL.replace(from, () => to)), failing)).to.deep.equal([failing]);
    });
  }

  const SIGNED = 'asking for text: signs what it sends, at the time of the host';
  const time = 'new Date(host.clock.now()).toISOString()';
  for (const [what, signed, failing] of [
    ['none where a signature is of time and body', `[${time}, body]`, []],
    ['none where a token of its own is signed', "'eyJh.eyJi.' + host.clock.now()", []],
    ['a signature without the body', time, [SIGNED]],
    ['a signature at a time of its own', '[new Date().toISOString().slice(0, 10), body]', [SIGNED]],
  ] as const) {
    it(`are found: ${what}`, async () => {
      const bearer = 'auth: host.bearer, body:';
      const auth = `auth: (key) => ({ authorization: 'Signed ' + JSON.stringify([key.length, ${signed}]) }), body:`;
      expect(await failures(await write(MILL.replace(bearer, () => auth)), SIGNED)).to.deep.equal(failing);
    });
  }

  it('are looked for in recordings of which none can be left out', async () => {
    for (const [at, { name }] of RECORDINGS.entries()) {
      const folder = await write(MILL, RECORDINGS.toSpliced(at, 1));
      const missing = await collectChecks(folder).then(
        (checks) =>
          runFailing(checks.filter(({ group, name }) => group === 'recorded' || name.startsWith('is recorded'))),
        (error) => [String(error)],
      );
      expect(missing, name).to.have.length(1);
    }
  });

  it('are found in citations, lost or sent back, where an answer with some is recorded', async () => {
    const seeded = [
      ['if (page) out.cite({ url: page });', '', 'reads as expected'],
      [
        'host.textOf(content), more',
        'host.textOf(content), from: content[0].citations?.[0].original.value, more',
        'is read the same when its citations go back',
      ],
    ] as const;
    for (const [from, to, name] of seeded) {
      const failing = `recording: ${CITING.name}: ${name}`;
      const recordings = [...RECORDINGS, CITING];
      expect(await failures(await write(MILL, recordings), failing)).to.deep.equal([]);
      expect(
        await failures(
          await write(
            MILL.replace(from, () => to),
            recordings,
          ),
          failing,
        ),
      ).to.deep.equal([failing]);
    }
  });

  it('are found in images of answers, lost, spoilt or too long, where an answer with one is recorded', async () => {
    const recorded = `recording: ${DRAWING.name}: reads as expected`;
    const large = 'stream: keeps a large image of an answer whole';
    const seeded = [
      ['if (drawn) out.image({ base64: drawn });', '', recorded],
      ['out.image({ base64: drawn })', 'out.image({ base64: drawn.slice(4) })', recorded],
      ['eventCharsMax: 4 * 1024 * 1024', '', large],
    ] as const;
    for (const [from, to, failing] of seeded) {
      const recordings = [...RECORDINGS, DRAWING];
      expect(await failures(await write(MILL, recordings), failing)).to.deep.equal([]);
      expect(await failures(await write(MILL.replace(from, to), recordings), failing), to).to.deep.equal([failing]);
    }
  });

  it('are found in time where the plugin is slow, and the rest is left', async () => {
    const folder = await write(MILL.replace('yield* host.answer', () => `${writeBusy(150)} yield* host.answer`));
    const verdicts: Verdict[] = [];
    const patience = { blockedMs: 30_000, failingMs: 60_000, afterFailureMs: 200 };
    for await (const verdict of superviseChecks('provider', folder, patience)) verdicts.push(verdict);
    const [failed] = verdicts.filter(({ reason }) => reason !== undefined);
    expect(failed).to.include({ group: 'during text', name: 'leaves the event loop to other calls' });
    expect(verdicts.at(-1)?.unchecked).to.equal('0.2 s have passed since the first that failed');
  });

  const traps: readonly (readonly [what: string, from: string, to: string, check: string, reason: RegExp])[] = [
    ['blocks the loop in a call', 'if (text) out.text(text);', 'while (text) {}', 'during text', BLOCKED],
    ['blocks the loop when it is created', 'const json = {', 'for (;;) {}\nconst json = {', 'plugin: loads', BLOCKED],
    [
      'blocks the loop when it is loaded',
      'export default {',
      'while (Date.now()) {}\nexport default {',
      'plugin: loads',
      BLOCKED,
    ],
    [
      'forgets a promise',
      'if (text) out.text(text);',
      "void Promise.reject(new Error('forgotten'));",
      'during text',
      /nobody handles an error, .*: Error: forgotten\n +at .*index\.js/,
    ],
    ['ends its process', 'if (text) out.text(text);', 'process.exit(0);', 'during text', /ended its process/],
    ['never ends', 'yield* host.answer', 'await new Promise(() => {}); yield* host.answer', 'during text', /hangs/],
  ];
  for (const [what, from, to, check, reason] of traps) {
    // Whatever blocks before the first check blocks alike, and what never ends is ended like what blocks.
    const itSome = /is created$|is loaded$|never ends$/.test(what) ? itLong : itTimed;
    itSome(`are found, and the rest is left: it ${what}`, async () => {
      const folder = await write(MILL.replace(from, () => to));
      const verdicts: Verdict[] = [];
      for await (const verdict of superviseChecks('provider', folder, { blockedMs: 1000, failingMs: 4000 })) {
        verdicts.push(verdict);
      }
      const failed = verdicts.filter((verdict) => verdict.reason !== undefined);
      expect(failed).to.have.length(1);
      expect(`${failed[0]?.group}: ${failed[0]?.name}`).to.match(new RegExp(`^${check}`));
      expect(failed[0]?.reason).to.match(reason);
      const rest = verdicts.slice(verdicts.indexOf(failed[0] as Verdict) + 1);
      expect(rest.every(({ unchecked }) => unchecked !== undefined)).to.equal(true);
    });
  }
});
