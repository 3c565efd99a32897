// The sample programs of the playground, run as shown with only the key filled in.
import { type ExecFileException, execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { joinText, parseEvents, until } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { itLong } from '../../testkit/long.ts';
import { setUpOwner, unescapeHtml } from '../../testkit/pages.ts';
import { png } from '../media/sample-images.ts';

/** Characters that a shell or a program could interpret. */
const PROMPT = 'It\'s "quoted" \\n $HOME `id` {{key}} $& \u{1f333}\r\nнижняя строка';

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  text: { model: 'sandbox-lite', max_tokens: '300' },
  embedding: { model: 'sandbox-embedding', dimensions: '4' },
  image: { model: 'sandbox-image', size: '1024x1792' },
  video: { model: 'sandbox-video', resolution: '480p', seconds: '4' },
};

/** The kind that each task is charged as. */
const KINDS: Readonly<Record<string, string>> = { edit: 'edit', motion: 'video', vision: 'text' };

const ECHO = /You wrote: “It's "quoted" \\n \$HOME `id` \{\{key\}\} \$& 🌳 нижняя строка”/;
const IMAGES = /1\. PNG, 40x30 pixels.*2\. PNG, 50x30 pixels/s;

describe('the samples of the playground', function () {
  this.timeout(60_000);
  let test: TestGateway;
  let account: TestAccount;
  let folder: string;
  let owner: Awaited<ReturnType<typeof setUpOwner>>;

  before(async () => {
    test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', VIDEO_POLL_MS: '1000' } });
    account = await test.account();
    owner = await setUpOwner(test, account.id);
    folder = mkdtempSync(join(tmpdir(), 'tollgate-samples-'));
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    for (const [at, width] of [40, 50].entries()) {
      writeFileSync(join(folder, `image-${at + 1}.png`), png({ width, height: 30 }));
    }
  });
  after(async () => {
    await test.checkMoney();
    await test.stop();
    rmSync(folder, { recursive: true });
  });

  /** In page order: three programs, for text three more of the Responses API. */
  async function readSamples(kind: string, images = 0): Promise<readonly string[]> {
    const query = new URLSearchParams({ kind, prompt: PROMPT, images: `${images}`, ...FIELDS[kind] });
    const { text } = await owner.get(`/account/playground?${query}`);
    return [...text.matchAll(/<code data-copy>([\s\S]*?)<\/code>/g)].map(([, code = '']) =>
      unescapeHtml(code).replaceAll('YOUR_KEY', account.key),
    );
  }

  it('say where the images are, if there are any', async () => {
    const hint = async (images: string) =>
      (await owner.get(`/account/playground?kind=text&images=${images}`)).text.includes('image-1.png and so on');
    expect([await hint('0'), await hint('1')]).to.deep.equal([false, true]);
  });

  it('leave images out of a call that takes none', async () => {
    expect(await readSamples('embedding', 2)).to.deep.equal(await readSamples('embedding'));
  });

  /** The folder with the official client and the images. */
  const runIn = (program: string, options: readonly string[], input: string) => run(folder, program, options, input);
  const lastCharge = async () => (await test.store.ledger.charges(account.id, { limit: 1 }))[0];

  for (const [kind, result] of [
    ['text', ECHO],
    ['embedding', /0\.\d+,?\s/],
    ['image', /\/media\/\w+\.png/],
    ['video', /\/media\/\w+\.mp4/],
  ] as const) {
    // Those with images are a text and an image as well.
    itLong(`in JavaScript generate a ${kind}`, async () => {
      const [, , js = ''] = await readSamples(kind);
      expect(await runIn(process.execPath, ['--input-type=module'], js)).to.match(result);
      expect((await lastCharge())?.kind).to.equal(kind);
    });

    it(`in a shell generate a ${kind}`, async () => {
      const [curl = ''] = await readSamples(kind);
      const before = (await lastCharge())?.id;
      const answer = await runIn('sh', [], curl.replace('curl ', 'curl -sS '));
      if (kind === 'text') expect(pieces(answer)).to.match(result);
      else expect(JSON.parse(answer)).to.have.property(kind === 'video' ? 'poll' : 'data');
      await until(async () => (await lastCharge())?.id !== before);
    });
  }

  for (const [task, kind, images, result] of [
    ['vision', 'text', 2, IMAGES],
    ['edit', 'image', 2, /\/media\/\w+\.png/],
    ['motion', 'video', 1, /\/media\/\w+\.mp4/],
  ] as const) {
    const itOnce = task === 'vision' ? it : itLong;
    itOnce(`with ${images} local images, in JavaScript and in a shell: ${task}`, async () => {
      const [curl = '', , js = ''] = await readSamples(kind, images);
      expect(await runIn(process.execPath, ['--input-type=module'], js)).to.match(result);
      const made = await lastCharge();
      expect(made?.kind).to.equal(KINDS[task]);
      const answer = await runIn('sh', [], curl.replace('curl ', 'curl -sS '));
      if (kind === 'text') expect(pieces(answer)).to.match(result);
      else expect(JSON.parse(answer)).to.have.property(kind === 'image' ? 'data' : 'poll');
      await until(async () => (await lastCharge())?.id !== made?.id);
      const again = await lastCharge();
      expect([again?.kind, again?.reserved]).to.deep.equal([made?.kind, made?.reserved]);
    });
  }

  for (const [images, result] of [
    [0, ECHO],
    [2, IMAGES],
  ] as const) {
    itLong(`in the Responses API with ${images} local images, in JavaScript and in a shell`, async () => {
      const [curl = '', , js = ''] = (await readSamples('text', images)).slice(3);
      expect(await runIn(process.execPath, ['--input-type=module'], js)).to.match(result);
      const made = await lastCharge();
      expect(made?.kind).to.equal('text');
      const answer = await runIn('sh', [], curl.replace('curl ', 'curl -sS '));
      expect(joinText(parseEvents(answer))).to.match(result);
      await until(async () => (await lastCharge())?.id !== made?.id);
      expect((await lastCharge())?.reserved).to.equal(made?.reserved);
    });
  }

  for (const [task, kind, images, result] of [
    ['text', 'text', 0, ECHO],
    ['responses', 'text', 0, ECHO],
    ['responses-vision', 'text', 2, IMAGES],
    ['embedding', 'embedding', 0, /0\.\d+,?\s/],
    ['image', 'image', 0, /\/media\/\w+\.png/],
    ['video', 'video', 0, /\/media\/\w+\.mp4/],
    ['vision', 'text', 2, IMAGES],
    ['edit', 'image', 2, /\/media\/\w+\.png/],
    ['motion', 'video', 1, /\/media\/\w+\.mp4/],
  ] as const) {
    itLong(`in Python: ${task}`, async function (this: Mocha.Context) {
      if (!hasOpenAi()) return this.skip();
      const [, python = ''] = (await readSamples(kind, images)).slice(task.startsWith('responses') ? 3 : 0);
      const before = (await lastCharge())?.id;
      expect(await runIn('python3', ['-'], python)).to.match(result);
      const made = await lastCharge();
      expect(made?.id).not.to.equal(before);
      expect(made?.kind).to.equal(KINDS[task] ?? kind);
    });
  }

  it('have a placeholder instead of the key', async () => {
    const { text } = await owner.get('/account/playground');
    expect(text.match(/YOUR_KEY/g)).to.have.length(7);
    expect(text).not.to.contain(account.key);
  });
});

/** Needs the official client where Python finds it, such as in a folder of `PYTHONPATH`. */
function hasOpenAi(): boolean {
  const { status } = spawnSync('python3', ['-c', 'import openai']);
  if (status !== 0) console.error('NO PYTHON CLIENT: its samples are not run; pip install openai.');
  return status === 0;
}

function run(folder: string, program: string, options: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const onEnd = (error: ExecFileException | null, stdout: string, stderr: string) =>
      error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout);
    execFile(program, options, { cwd: folder, timeout: 50_000 }, onEnd).stdin?.end(input);
  });
}

function pieces(events: string): string {
  const contents = events.matchAll(/"delta":\{"content":("(?:[^"\\]|\\.)*")/g);
  return [...contents].map(([, json = '']) => JSON.parse(json)).join('');
}
