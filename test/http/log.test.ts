import { spawn } from 'node:child_process';
import fs, { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { makeKey } from '../../lib/accounts/key.ts';
import { makeSecret } from '../../lib/base/base62.ts';
import { fault } from '../../lib/base/faults.ts';
import { createLog, type Log } from '../../lib/http/log.ts';
import { makeToken } from '../../lib/users/token.ts';
import { until } from '../../testkit/client.ts';
import { itLong } from '../../testkit/long.ts';
import { itTimed } from '../../testkit/timed.ts';

describe('log', () => {
  let folder: string;
  let file: string;
  let log: Log;
  let count = 0;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'));
  });
  beforeEach(() => open());
  after(() => rmSync(folder, { recursive: true }));

  function open(options: { level?: string; keyPrefix?: string; isShared?: boolean } = {}): void {
    count += 1;
    file = join(folder, `log-${count}`);
    log = createLog({ level: 'info', keyPrefix: 'tg-', destination: file, ...options });
  }

  it('is written at once where nothing has been logged yet, and goes on', async () => {
    await log.written();
    log.info('the first line');
    await log.written();
    expect(readFileSync(file, 'utf8')).to.contain('the first line');
  });

  it('writes errors as docs/operations/logs.md says to look for them', async () => {
    const page = readFileSync(new URL('../../docs/operations/logs.md', import.meta.url), 'utf8');
    const [, pattern = ''] = /the log\s+for `([^`]+)`/.exec(page) ?? [];
    expect(pattern).to.contain('level');
    log.info('all is well');
    log.error('all is not well');
    const lines = (await written()).split('\n').filter((line) => line.includes(pattern));
    expect(lines.map((line) => JSON.parse(line).msg)).to.deep.equal(['all is not well']);
  });

  /** What stands in the file once everything logged so far does. */
  async function written(): Promise<string> {
    // More than the buffer holds is written at once.
    log.fatal('x'.repeat(70_000));
    await until(() => /x"\}\n$/.test(read()));
    return read();
  }
  function read(): string {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  }

  /** Says a text in every way the service does. */
  function sayEverywhere(text: string): void {
    const cause = new Error(`because ${text}`, { cause: new Error(`and ${text}`) });
    log.info(text);
    log.info({ [text]: 1 }, 'as a name');
    log.line({ [text]: 1, text: `${text}"` }, text);
    log.warn({ a: { b: [{ c: `${text}!` }] } }, `nested ${text}`);
    log.error({ err: new Error(`failed: ${text}`, { cause }) }, 'with a cause');
    log.error({ err: fault('upstream_failed', {}, cause) }, 'as a fault');
    log.error({ err: Object.assign(new Error('own'), { detail: text, headers: { authorization: `Bearer ${text}` } }) });
    log.info({ url: `https://example.org/v1?key=${encodeURIComponent(text)}&a=b` }, 'in a url');
    log.info({ body: JSON.stringify({ error: { message: `bad key ${text}` } }) }, 'in JSON');
    log.info({ body: JSON.stringify({ body: JSON.stringify({ text }) }) }, 'in JSON in JSON');
    log.info({ headers: ['x-api-key', text] }, 'in a list');
    log.info({ map: { toJSON: () => text } }, 'by toJSON');
    log.child({ text }).info('of a child');
    log.info(`%s and %o`, text, { text });
    log.info({ line: `${text}${text} ${text}` });
  }

  /** The text and every way it may be spelled. */
  const spellings = (text: string) => [
    text,
    JSON.stringify(text).slice(1, -1),
    JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1),
    encodeURIComponent(text),
  ];

  it('writes JSON lines with a level and a time', async () => {
    log.info({ a: 1 }, 'hello');
    const [line = ''] = (await written()).split('\n');
    const { time, ...rest } = JSON.parse(line);
    expect(rest).to.deep.equal({ level: 'info', a: 1, msg: 'hello' });
    expect(Date.parse(time)).to.be.closeTo(Date.now(), 5000);
  });

  it('writes a line of JSON with the level as a word and the time as ISO, whatever its fields are', async () => {
    log.info({ path: '/a"b\\', absent: undefined, big: 5n }, 'request');
    const [line = ''] = (await written()).split('\n');
    const { time, ...fields } = JSON.parse(line);
    expect(fields).to.deep.equal({ level: 'info', path: '/a"b\\', big: 5, msg: 'request' });
    expect(new Date(time).toISOString()).to.equal(time);
    expect(Date.now() - Date.parse(time)).to.be.within(0, 60_000);
  });

  it('writes the line of a request like any other, also what JSON cannot', async () => {
    const fields = { path: '/a"b\\', aborted: false, of: { more: [1, null] }, absent: undefined, text: 'ё' };
    for (const each of [fields, {}, { big: 5n }]) {
      log.line(each, 'request');
      log.info(each, 'request');
    }
    const lines = (await written()).split('\n').map((line) => line.replace(/"time":"[^"]*"/, ''));
    for (const at of [0, 2, 4]) expect(lines[at]).to.equal(lines[at + 1]);
    expect(lines[4]).to.contain('"big":5');
  });

  itTimed('has written everything when written() resolves, without waiting for the next flush', async () => {
    const from = performance.now();
    log.info('a line');
    log.line({}, 'another');
    await log.written();
    expect(performance.now() - from).to.be.below(240);
    expect(read()).to.contain('"a line"').and.to.contain('"another"');
  });

  it('writes the time of each line', async () => {
    const from = Date.now();
    log.line({}, 'first');
    await sleep(5);
    log.line({}, 'second');
    const [first = '', second = ''] = (await written()).split('\n');
    const at = (line: string) => Date.parse(JSON.parse(line).time);
    expect(at(first)).to.be.within(from, at(second) - 4);
    expect(at(second)).to.be.at.most(Date.now());
  });

  it('respects its level', async () => {
    open({ level: 'warn' });
    log.info('quiet');
    log.line({}, 'quiet');
    log.warn('loud');
    expect(await written())
      .to.contain('loud')
      .and.not.to.contain('quiet');
  });

  it('never writes a key', async () => {
    const keys = Array.from({ length: 5 }, () => makeKey('tg-'));
    for (const key of keys) sayEverywhere(key);
    const text = await written();
    for (const key of keys) expect(text).not.to.contain(key.slice(6, 20));
    expect(text).to.contain('Bearer [secret]').and.to.contain('key=[secret]&a=b');
    for (const line of text.trim().split('\n')) JSON.parse(line);
  });

  it('never writes a significant part of a key', async () => {
    const key = makeKey('tg-');
    log.info(`cut ${key.slice(0, 20)}…`);
    log.info(`marked ${key}_x`);
    const text = await written();
    expect(text).not.to.contain(key.slice(6, 20));
    expect(text).to.contain('cut [secret]…');
  });

  it('never writes the token of a one-time link or the full name of a stored file', async () => {
    const token = makeToken();
    const name = makeSecret();
    sayEverywhere(`https://gate.example.com/setup?token=${token}&lang=en`);
    sayEverywhere(`/login?next=${encodeURIComponent(`/reset?token=${token}`)}`);
    sayEverywhere(`https://gate.example.com/media/${name}.png`);
    sayEverywhere(encodeURIComponent(`https://gate.example.com/media/${name}.png`));
    log.line({ input_tokens: 1_234_567_890_123_456, note: 'max_token=short' }, 'tokens');
    const text = await written();
    expect(text).not.to.contain(token.slice(0, 20)).and.not.to.contain(name.slice(6, 20));
    expect(text)
      .to.contain('/setup?token=[secret]&lang=en')
      .and.to.contain(`/media/${name.slice(0, 6)}[secret].png`);
    expect(text).to.contain('1234567890123456').and.to.contain('max_token=short');
    for (const line of text.trim().split('\n')) JSON.parse(line);
  });

  it('scrubs keys with any prefix', async () => {
    for (const keyPrefix of ['', 'my-own-', 'a1-']) {
      open({ keyPrefix });
      const key = makeKey(keyPrefix);
      sayEverywhere(key);
      expect(await written()).not.to.contain(key.slice(keyPrefix.length + 3, 30));
    }
  });

  it('writes each line without waiting for the next, also during a write', async () => {
    for (const text of ['first', 'second']) {
      log.info('x'.repeat(70_000));
      log.info(`the ${text} small line`);
      await until(() => read().includes(`the ${text} small line`));
    }
  });

  it('makes one system call for many lines, and none without lines', async () => {
    const { write } = fs;
    const files: number[] = [];
    const counted = (file: number, ...args: unknown[]) => {
      files.push(file);
      return (write as (...all: unknown[]) => void)(file, ...args);
    };
    fs.write = counted as typeof fs.write;
    try {
      for (let line = 0; line < 50; line += 1) log.info('a line');
      await until(() => read().split('a line').length > 50);
      const own = files.at(-1);
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(files.filter((file) => file === own)).to.have.length(1);
    } finally {
      fs.write = write;
    }
  });

  it('writes no more at once than a pipe takes where other processes write too', async () => {
    const { write } = fs;
    let sizes: number[] = [];
    const measured = (file: number, bytes: Buffer, ...args: unknown[]) => {
      sizes.push(bytes.length);
      return (write as (...all: unknown[]) => void)(file, bytes, ...args);
    };
    fs.write = measured as typeof fs.write;
    try {
      for (const isShared of [true, false]) {
        open({ isShared });
        sizes = [];
        for (let line = 0; line < 100; line += 1) log.info('x'.repeat(200));
        await until(() => read().split('\n').length > 100);
        const most = Math.max(...sizes);
        expect(most <= 4096, `${sizes}`).to.equal(isShared);
        expect(most).to.be.above(3000);
      }
    } finally {
      fs.write = write;
    }
  });

  it('drops lines beyond its buffer while nothing can be written, and continues afterwards', async () => {
    // All in one turn, in which nothing is written.
    for (let line = 0; line < 100; line += 1) log.info('x'.repeat(65_536));
    await log.written();
    log.info('later');
    await until(() => read().includes('later'));
    expect(read().length).to.be.within(3.9 * 1024 * 1024, 4 * 1024 * 1024);
  });

  it('hides keys of the management API', async () => {
    const key = `tg-mk-${'aB3'.repeat(16)}`;
    log.info(`made ${key} now`);
    const text = await written();
    expect(text).to.contain('made [secret] now').and.to.not.contain(key);
  });

  it('writes words that only resemble a key', async () => {
    log.info('tg-sk- and tg-sk-short are no keys');
    expect(await written()).to.contain('tg-sk- and tg-sk-short are no keys');
  });

  it('hides keys that moved in from another gateway, the shortest ones too', async () => {
    for (const key of [`sk-${'aB3_'.repeat(12)}`, 'sk-6f1c2b1e-77aa-4c1e-9c39-0a1b2c3d4e5f', 'sk-sixteen_of_these']) {
      log.info({ url: `/x?key=${key}&a=1` }, `again ${key}, and task-list of risk-assessments-and-more`);
      expect(await written()).not.to.contain(key);
    }
    expect(await written())
      .to.contain('and task-list')
      .and.not.contain('aB3_');
  });

  const secrets: Readonly<Record<string, string>> = {
    'a plain one': 'sk-upstream-0123456789',
    'one with quotes and backslashes': 'pa"ss\\wo"rd\\\\x',
    'one of several lines': '-----BEGIN KEY-----\nabc+/=\n-----END KEY-----\n',
    'one with signs of a url': 'user:p@ss/w?rd&x=1+2%20 3',
    'one of letters beyond ASCII': 'пароль-секрет-👋',
    'one with signs of regular expressions': '$&.*(secret)[a]^$1',
    'one like a key of ours': `tg-sk-${'A'.repeat(20)}_and-more`,
    'one with a control character': 'abc\u0000def\u001fghi',
  };
  for (const [name, secret] of Object.entries(secrets)) {
    it(`never writes an added secret: ${name}`, async () => {
      log.addSecrets([secret]);
      sayEverywhere(secret);
      const text = await written();
      for (const spelling of spellings(secret)) expect(text).not.to.contain(spelling);
      expect(text).to.contain('[secret]');
      for (const line of text.trim().split('\n')) JSON.parse(line);
    });
  }

  it('scrubs all of a secret that contains another', async () => {
    for (const order of [
      ['shared-secret', 'shared-secret-of-two', 'the-shared-secret-of-two'],
      ['the-shared-secret-of-two', 'shared-secret-of-two', 'shared-secret'],
    ]) {
      open();
      for (const secret of order) log.addSecrets([secret]);
      for (const secret of order) log.info(`it is <${secret}>`);
      const text = await written();
      expect(text).not.to.contain('of-two');
      expect(text.match(/it is <\[secret\]>/g)).to.have.length(3);
    }
  });

  it('keeps scrubbing secrets added before', async () => {
    log.addSecrets(['first-secret']);
    log.addSecrets(['second-secret']);
    log.addSecrets([]);
    log.info('first-secret second-secret');
    expect(await written()).to.contain('[secret] [secret]');
  });

  it('does not scrub short values', async () => {
    log.addSecrets(['', 'info', 'level']);
    log.info('the level is info');
    expect(await written()).to.contain('the level is info');
  });

  it('never writes any secret at all', async () => {
    const all = fc.sample(fc.string({ unit: 'grapheme', minLength: 8, maxLength: 30 }), 200);
    log.addSecrets(all);
    for (const secret of all) log.info({ secret, list: [`<${secret}>`] }, `it is ${secret}`);
    const text = await written();
    // What is left of the lines but for their frames.
    const rest = text.replaceAll(/"(level|time)":"[^"]*"/g, '');
    for (const secret of all) expect(rest).not.to.contain(JSON.stringify(secret).slice(1, -1));
  });

  itLong('keeps the lines of several processes intact on a shared pipe with a slow reader', async () => {
    const child = fileURLToPath(new URL('./log-child.ts', import.meta.url));
    const all = `for each in 1 2 3; do "${process.execPath}" "${child}" & done; wait`;
    const { stdout } = spawn('sh', ['-c', all], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    for await (const part of stdout.setEncoding('utf8')) {
      text += part;
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    const lines = text.trim().split('\n');
    expect(lines).to.have.length(3 * 40 * 150);
    for (const line of lines) expect(JSON.parse(line).msg).to.equal('line');
  });
});
