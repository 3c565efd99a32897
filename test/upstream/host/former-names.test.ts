// Plugins and recordings that call an image a picture, as the contract did before.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parseRecording } from '../../../lib/upstream/check/recording.ts';
import { adaptPlugin } from '../../../lib/upstream/host/contract-1.ts';
import { createHost } from '../../../lib/upstream/host/host.ts';
import { loadPlugin } from '../../../lib/upstream/host/loader.ts';

// biome-ignore lint/suspicious/noExplicitAny: the contract's types have the present names only
type Former = any;

const host: Former = createHost({
  upstream: 'old',
  log: { warn() {} },
  allowedOrigins: [],
  vendor: { faultWords: { picture: 'blurred_photo' } as Former, faultTexts: { picture: /out of focus/ } as Former },
});

describe('the former name of images', () => {
  after(() => host.close());

  it('is understood as the cause of a fault', () => {
    expect(host.fault.make('request', 'no', { status: 400, about: 'picture' })).to.include({
      about: 'image',
      status: 400,
    });
    expect(host.fault.make('request', 'no', { about: 'length' })).to.include({ about: 'length' });
    expect(host.fault.make('server', 'no', { retryAfterMs: 5 })).to.include({ retryAfterMs: 5 });
  });

  for (const message of ['blurred_photo', 'It is out of focus']) {
    it(`is understood in a plugin's own words: ${message}`, () => {
      expect(host.fault.ofComplaint({ error: { message, code: message } })).to.include({ about: 'image' });
    });
  }

  it('is one of the words a plugin loads with', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'former-')), 'old');
    await mkdir(folder);
    const words = "faultWords: { picture: 'blurred' }, faultTexts: { picture: /blurred/ }";
    const source = `export default { contract: 1, name: 'old', settings() {}, create() {}, ${words} };`;
    await writeFile(join(folder, 'index.js'), source);
    expect(await loadPlugin(folder)).to.include({ name: 'old' });
    await rm(dirname(folder), { recursive: true });
  });

  it('names the reader of a drawing model', () => {
    const data = Buffer.from('png').toString('base64');
    const reply = { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data } }] } }] };
    expect(host.contents.picturesOf(reply)).to.deep.equal(host.contents.readImages(reply));
  });

  it('leaves the aspect out of a template if the first frame has one', () => {
    const image = { mediaType: 'image/png', bytes: Buffer.from('p') };
    const call = { prompt: 'p', seconds: 5, aspect: '16:9', resolution: null, image, options: {} };
    const how = { sizeMap: {}, base64: String, isAspectOfPicture: true };
    expect(host.video.fill(call, { prompt: '{prompt}', aspect: '{aspect}' }, how)).to.deep.equal({ prompt: 'p' });
  });

  it('is understood by the host of a plugin of contract 1', async () => {
    const old: Former = {
      contract: 1,
      name: 'old',
      create: (_: object, given: Former) => ({
        async image() {
          throw given.fault.make('request', 'no', { about: 'picture' });
        },
        async *text() {},
      }),
    };
    const { image }: Former = adaptPlugin(old).create({}, host);
    const refusal = await image({}).catch((error: unknown) => error);
    expect(refusal).to.include({ kind: 'request', about: 'image' });
  });

  it('is read in recordings', () => {
    const photo = { type: 'image', picture: 'png' };
    const result = { type: 'tool-result', id: 'a', name: 'look', content: [photo] };
    const call = { messages: [{ role: 'user', content: [photo, result] }] };
    const { call: read, expect: expected }: Former = parse({ call, expect: { fault: 'request', about: 'picture' } });
    const [{ content }] = read.messages;
    expect(content[0]).to.include({ type: 'image', mediaType: 'image/png' });
    expect(content[1].content[0]).to.include({ type: 'image', mediaType: 'image/png' });
    expect(expected).to.deep.equal({ fault: 'request', about: 'image' });
    const states = [{ status: 'failed', fault: 'request', about: 'picture' }];
    const job: Former = parse({ kind: 'video', expect: { states } });
    expect(job.expect.states[0]).to.include({ about: 'image' });
  });

  it('is no licence for other causes', () => {
    expect(() => parse({ expect: { fault: 'request', about: 'photo' } })).to.throw('length, content, image');
  });
});

function parse(entry: object): unknown {
  return parseRecording({ name: 'n', source: 'https://s.example', reply: { status: 400 }, ...entry }, 'here');
}
