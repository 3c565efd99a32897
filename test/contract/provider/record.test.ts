import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseRecording } from '../../../lib/upstream/check/recording.ts';
import { runCommand } from '../../cli/command.ts';
import { PNG } from '../../media/sample-images.ts';

const OPENAI = fileURLToPath(new URL('../../../providers/openai-compatible', import.meta.url));

const KEY = 'sk-recorded-1234567890';

const ACME = `export default {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  faultWords: { content: 'rude' },
  faultHeader: 'x-code',
  limitHeaders: [{ remaining: 'x-left', reset: 'x-more-at' }],
  create: (settings, host) => ({
    text: (_call, signal) =>
      host.answer(settings.baseUrl, { method: 'POST', auth: host.bearer, body: '{}', signal }, { take() {} }),
  }),
};
`;

describe('recorder of answers', () => {
  let server: Server;
  let origin: string;
  let asked: { readonly headers: IncomingMessage['headers']; readonly body: string }[];
  let answer: (response: ServerResponse) => unknown;

  beforeEach(async () => {
    asked = [];
    server = createServer(async (incoming, response) => {
      asked.push({ headers: incoming.headers, body: (await incoming.toArray()).join('') });
      void answer(response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });

  const record = (args: readonly string[]) =>
    runCommand(['provider', 'record', ...args], { ...process.env, KEY }, { stdin: '{"model":"m"}' });

  it('keeps the bytes of an answer, and neither the key nor what names the account', async () => {
    answer = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'x-organization': 'org-1', 'set-cookie': 'a=b' });
      response.write(`data: {"text":"при`);
      await sleep(20);
      response.end(`вет","echo":"${KEY}"}\r\n\r\n`);
    };
    const { code, stdout } = await record([
      `${origin}/v1/generate?key=\${KEY}`,
      '--header',
      `Authorization: Bearer \${KEY}`,
      '--name',
      'hello',
    ]);
    expect(code).to.equal(0);
    expect(asked[0]?.headers).to.include({ authorization: `Bearer ${KEY}`, 'accept-encoding': 'identity' });
    expect(asked[0]?.body).to.equal('{"model":"m"}');
    expect(stdout).not.to.include(KEY);
    const [recording] = JSON.parse(stdout);
    expect(recording.source).to.equal(`${origin}/v1/generate`);
    expect(recording.reply).to.deep.equal({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: 'data: {"text":"привет","echo":"[secret]"}\r\n\r\n',
    });
    expect(parseRecording(recording, 'test').name).to.equal('hello');
  });

  it('keeps bytes that are no text, an error status, and a connection that breaks', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0xc3]);
    answer = async (response) => {
      response.writeHead(500, { 'retry-after': '7' });
      response.write(bytes);
      await sleep(30);
      response.socket?.resetAndDestroy();
    };
    const { stdout } = await record([`${origin}/`, '--header', 'x-api-key: sk-literal-123456']);
    const [recording] = JSON.parse(stdout);
    expect(recording.reply).to.deep.equal({
      status: 500,
      headers: { 'retry-after': '7' },
      bodyBase64: bytes.toString('base64'),
      end: 'reset',
    });
  });

  it('fills in what a plugin makes of the answer', async () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'Hi!' }, finish_reason: 'stop' }] };
    answer = (response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    };
    const { stdout } = await record([`${origin}/v1/chat/completions`, '--plugin', OPENAI]);
    expect(JSON.parse(stdout)[0].expect).to.deep.equal({
      text: 'Hi!',
      finish: 'stop',
      usage: { input: null, output: null },
    });
  });

  it('fills in the images of the answer', async () => {
    const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } }];
    const chunk = { choices: [{ index: 0, delta: { content: '', images }, finish_reason: 'stop' }] };
    answer = (response) => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    };
    const { stdout } = await record([`${origin}/v1/chat/completions`, '--plugin', OPENAI]);
    expect(JSON.parse(stdout)[0].expect.images).to.deep.equal([{ type: 'png', size: PNG.length }]);
  });

  it('keeps the headers that the plugin reads, and says why a request is refused', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'record-')), 'acme');
    mkdirSync(folder);
    writeFileSync(join(folder, 'index.ts'), ACME);
    answer = (response) => {
      response.writeHead(400, { 'x-left': '7', 'x-more-at': '1s', 'x-code': 'rude', 'x-organization': 'org-1' });
      response.end('{}');
    };
    const { stdout } = await record([`${origin}/v1/generate`, '--plugin', folder]);
    rmSync(dirname(folder), { recursive: true });
    const [{ reply, expect: seen }] = JSON.parse(stdout);
    expect(reply.headers).to.deep.equal({ 'x-left': '7', 'x-more-at': '1s', 'x-code': 'rude' });
    expect(seen).to.deep.equal({ text: '', fault: 'request', about: 'content' });
  });

  const mistakes: readonly (readonly [what: string, args: readonly string[], words: string])[] = [
    ['no URL', [], "missing required argument 'url'"],
    ['a header that is none', ['http://127.0.0.1:9/', '--header', 'nonsense'], 'not a header: nonsense'],
    ['an unset variable', [`http://127.0.0.1:9/\${NO_SUCH_VARIABLE}`], 'the environment has no NO_SUCH_VARIABLE'],
    ['nobody listening', ['http://127.0.0.1:9/'], 'ECONNREFUSED'],
  ];
  for (const [what, args, words] of mistakes) {
    it(`says what is wrong with ${what}`, async () => {
      const { code, stdout, stderr } = await record(args);
      expect(code).to.equal(args.length === 0 ? 2 : 1);
      expect(stdout).to.equal('');
      expect(stderr).to.include(words);
    });
  }
});
