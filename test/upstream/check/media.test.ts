// The checks of images and videos on an example, and on the example with one defect each.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { itTimed } from '../../../testkit/timed.ts';

const STUDIO = fileURLToPath(new URL('./studio', import.meta.url));

interface Defect {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  /** A check that has to fail. */
  readonly failing: string;
}

const IMAGES = 'recording: two images after a while';
const VIDEO = 'recording: a video';

const DEFECTS: readonly Defect[] = [
  {
    what: 'sends no key with its submission',
    from: "const request = { method: 'POST', auth, signal } as const;",
    to: "const request = { method: 'POST', signal } as const;",
    failing: `${IMAGES}: reads as expected`,
  },
  {
    what: 'sends no key at all',
    from: 'const auth: KeyHeaders = (key) => (',
    to: 'const auth: KeyHeaders = () => ({});\nexport const unused: KeyHeaders = (key) => (',
    failing: 'asking for image: sends the key',
  },
  {
    what: 'edits without the images',
    from: 'fields: { model, prompt, ...sized }, files }',
    to: 'fields: { model, prompt, ...sized }, files: [] }',
    failing: 'recording: an edit of two images: reads as expected',
  },
  {
    what: 'loses images',
    from: '(Array.isArray(images) ? images : [])',
    to: '(Array.isArray(images) ? images.slice(0, 1) : [])',
    failing: `${IMAGES}: reads as expected`,
  },
  {
    what: 'makes an image of nothing',
    from: '(Array.isArray(images) ? images : [])',
    to: "(Array.isArray(images) && images.length > 0 ? images : [{ url: 'https://x.example/none.png' }])",
    failing: 'recording: no image: reads as expected',
  },
  {
    what: 'throws what is no fault',
    from: "throw host.fault.make('protocol', ",
    to: 'throw new Error(',
    failing: 'refusals of image: an empty object or list is no answer',
  },
  {
    what: 'goes on without the id of a job',
    from: "if (typeof id !== 'string' || id === '')",
    to: 'if (false)',
    failing: 'refusals of video: an empty object or list is no answer',
  },
  {
    what: 'submits an image again',
    from: 'const submitted = await host.json(...submission(call, signal));',
    to: `const submitted = await host
      .json(...submission(call, signal))
      .catch(() => host.json(...submission(call, signal)));`,
    failing: 'asking for image: is done once when the answer is lost',
  },
  {
    what: 'keeps the signal from its looks',
    from: "const { value, retryAfterMs } = await host.json(url, { method: 'GET', auth, keyId, signal });",
    to: "const { value, retryAfterMs } = await host.json(url, { method: 'GET', auth, keyId, signal: new AbortController().signal });",
    failing: 'jobs of video: a poll that is aborted closes its connection',
  },
  {
    what: 'keeps the signal from its submission',
    from: "const request = { method: 'POST', auth, signal } as const;",
    to: "const request = { method: 'POST', auth, signal: new AbortController().signal } as const;",
    failing: 'abort of image: while request 1 of 4 is answered closes the connection',
  },
  {
    what: 'puts the key into the ref',
    from: '{ id: idOf(reply, host), ...(keyId !== undefined && { keyId }) }',
    to: '{ id: idOf(reply, host), ...(await host.authorize(auth)) }',
    failing: `${VIDEO}: reads as expected`,
  },
  {
    what: 'keeps the job in its memory',
    from: 'return { id: idOf(reply, host), ...(keyId !== undefined && { keyId }) };',
    to: '(start as { known?: Host }).known = host;\n    return { id: idOf(reply, host), host: host as unknown as string };',
    failing: `${VIDEO}: reads as expected`,
  },
  {
    what: 'sends the key to another host',
    from: 'result: { url:',
    to: "result: { url: 'https://cdn.studio.example/v.mp4', headers } };\n      return { status: 'completed', result: { url:",
    failing: `${VIDEO}: reads as expected`,
  },
  {
    what: 'takes an unknown word for a failure',
    from: "if (state === 'failed')",
    to: "if (state === 'failed' || !['queued', 'running', 'done'].includes(String(state)))",
    failing: 'jobs of video: goes on at a word for its state that nobody knows',
  },
  {
    what: 'takes a look that fails for a failed job',
    from: 'async function poll({ id, keyId }: VideoRef, signal: AbortSignal): Promise<VideoState> {',
    to: `async function poll(ref: VideoRef, signal: AbortSignal): Promise<VideoState> {
    return look(ref, signal).catch((fault) => ({ status: 'failed', fault }));
  }

  async function look({ id, keyId }: VideoRef, signal: AbortSignal): Promise<VideoState> {`,
    failing: 'jobs of video: continues when a poll fails',
  },
  {
    what: 'takes anything for a finished job',
    from: "if (state === 'done') {",
    to: "if (state !== 'queued' && state !== 'running' && state !== 'failed') {",
    failing: 'jobs of video: continues when a poll fails',
  },
  {
    what: 'counts its progress from 0 to 1',
    from: '{ progress: percent }',
    to: '{ progress: percent * 100 }',
    failing: `${VIDEO}: reads as expected`,
  },
  {
    what: 'does not say why a job failed',
    from: 'fault: host.fault.ofComplaint({ error }, true) };',
    to: "fault: host.fault.make('server', 'it failed') };",
    failing: 'recording: a job that fails: reads as expected',
  },
];

describe('the contract suite on a plugin of images and videos', () => {
  let root: string;
  let source: string;
  let count = 0;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'studio-'));
    source = await readFile(join(STUDIO, 'index.ts'), 'utf8');
  });
  after(() => rm(root, { recursive: true }));

  /** The names of the checks that fail, of all or one; each folder is new, as modules load once. */
  async function failures(plugin: string, only?: string): Promise<readonly string[]> {
    const folder = join(root, `${count++}`, 'studio');
    await mkdir(folder, { recursive: true });
    await cp(join(STUDIO, 'fixtures'), join(folder, 'fixtures'), { recursive: true });
    await writeFile(join(folder, 'index.ts'), plugin);
    const failed: string[] = [];
    for (const check of await collectChecks(folder)) {
      const name = `${check.group}: ${check.name}`;
      if (only === undefined || name === only) await check.run().catch(() => failed.push(name));
    }
    return failed;
  }

  itTimed('passes', async () => {
    expect(await failures(source)).to.deep.equal([]);
  });

  for (const { what, from, to, failing } of DEFECTS) {
    it(`catches one that ${what}`, async () => {
      expect(source).to.include(from);
      expect(
        await failures(
          source.replace(from, () => to),
          failing,
        ),
      ).to.deep.equal([failing]);
    });
  }
});
