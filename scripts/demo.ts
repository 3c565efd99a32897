// The product in ten seconds: a temporary service, a paid answer in each dialect, two images, a refund, the books.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { readConfig } from '../lib/config.ts';
import { createGateway } from '../lib/gateway.ts';
import { createLog } from '../lib/http/log.ts';
import { readOptions } from './options.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const WIDTH = Math.max(40, Math.min(process.stdout.columns || 80, 84));
const INDENT = '   ';
/** The sandbox answers about as fast as a real model. */
const WORD_MS = 20;

interface Billing {
  readonly charged_rub: number;
  readonly reserved_rub: number;
  readonly balance_rub: number;
  readonly rub_per_mtok_in: number;
  readonly rub_per_mtok_out: number;
}

readOptions({});
const folder = mkdtempSync(join(tmpdir(), 'tollgate-demo-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));
// The reader has seen enough, as in `npm run demo | head`.
process.stdout.on('error', () => process.exit(0));

await run();

async function run(): Promise<void> {
  const config = readConfig({
    PORT: '0',
    SANDBOX: 'on',
    DATA_DIR: folder,
    DATABASE_URL: `sqlite:${join(folder, 'tollgate.db')}`,
    CATALOG_DIR: writeCatalog(),
  });
  const log = createLog({ level: 'info', keyPrefix: config.keyPrefix, destination: join(folder, 'log') });
  const gateway = await createGateway(config, log);
  await gateway.start();
  const url = `http://127.0.0.1:${gateway.server.info.port}`;
  const key = gateway.facts.demoKey as string;

  print(bold('Tollgate, a prepaid AI gateway'), '');
  print(`A new service with a demo account is ready after ${seconds()}, on ${url}.`);
  print(dim('Its models are a sandbox: answers are made up here and sold at a price.'), '');
  const before = await readBalance(url, key);

  heading('1', 'An answer in the message style', 'POST /api/v1/messages');
  await stream({ url, key, path: '/api/v1/messages', model: 'sandbox-heavy', prompt: 'What can you do for me?' });
  heading('2', 'The same engine in the chat style', 'POST /api/v1/chat/completions');
  await stream({ url, key, path: '/api/v1/chat/completions', model: 'sandbox-standard', prompt: 'А по-русски?' });
  heading('3', 'An image, and an edit of it', 'POST /api/v1/images/edits');
  await paint(url, key);
  heading('4', 'An upstream that fails', 'nothing is charged');
  await stream({ url, key, path: '/api/v1/messages', model: 'sandbox-lite', prompt: 'Please break. [[fail]]' });

  heading('5', 'The wallet and the books', 'tollgate ledger verify');
  const after = await readBalance(url, key);
  pairs([
    ['before', amount(before)],
    ['after', amount(after)],
    ['spent', bold(amount(before - after))],
  ]);
  print('');
  const verified = await verifyLedger(config.databaseUrl);
  await gateway.stop();
  print(dim(`${seconds()} in all. Yours: npm start`));
  if (!verified) process.exitCode = 1;
}

/** The shipped sandbox at a readable pace. */
function writeCatalog(): string {
  const shipped = JSON.parse(readFileSync(join(ROOT, 'catalog', 'sandbox.json'), 'utf8'));
  shipped.upstreams.sandbox.settings = { wordMs: WORD_MS };
  const catalogDir = join(folder, 'catalog');
  mkdirSync(catalogDir);
  writeFileSync(join(catalogDir, 'sandbox.json'), JSON.stringify(shipped));
  return catalogDir;
}

interface Call {
  readonly url: string;
  readonly key: string;
  readonly path: string;
  readonly model: string;
  readonly prompt: string;
}

/** Streams one answer to the terminal as it arrives, with its cost. */
async function stream({ url, key, path, model, prompt }: Call): Promise<void> {
  print(`${INDENT}${dim(`${model} is asked:`)} ${prompt}`, '');
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, max_tokens: 1000, messages: [{ role: 'user', content: prompt }] }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  const paper = createPaper();
  let billing: Billing | undefined;
  let failure: string | undefined;
  for await (const event of readServerEvents(response)) {
    paper.write(event.delta?.text ?? event.choices?.[0]?.delta?.content ?? '');
    billing ??= event.charged_rub === undefined ? event.billing : event;
    failure ??= event.error?.message;
  }
  paper.end();
  if (failure !== undefined) print(`${INDENT}${failure}`, '');
  if (billing === undefined) return;
  const { charged_rub, reserved_rub, balance_rub, rub_per_mtok_in, rub_per_mtok_out } = billing;
  pairs([
    ['reserved_rub', amount(reserved_rub)],
    ['charged_rub', bold(amount(charged_rub))],
    ['balance_rub', amount(balance_rub)],
    ['per 1M tokens', `${amount(rub_per_mtok_in)} in, ${amount(rub_per_mtok_out).trim()} out`],
  ]);
  print('');
}

/** Makes an image, then edits it by its link. */
async function paint(url: string, key: string): Promise<void> {
  const made = await post(url, key, '/api/v1/images/generations', { prompt: 'A red lighthouse', size: '1792x1024' });
  const image = made.data[0].url;
  print(`${INDENT}${image}`);
  const edited = await post(url, key, '/api/v1/images/edits', { prompt: 'A green frame', image });
  print(`${INDENT}${edited.data[0].url}`, '');
  pairs([
    ['charged_rub', bold(amount(edited.billing.charged_rub))],
    ['balance_rub', amount(edited.billing.balance_rub)],
  ]);
  print('');
}

// biome-ignore lint/suspicious/noExplicitAny: the reply of any endpoint
async function post(url: string, key: string, path: string, body: object): Promise<any> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** The JSON of a stream's events, in either dialect. */
// biome-ignore lint/suspicious/noExplicitAny: two dialects on one wire
async function* readServerEvents(response: Response): AsyncGenerator<any> {
  let rest = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice('data: '.length));
  }
}

/** Writes words as they arrive, indented and wrapped. */
function createPaper(): { write(text: string): void; end(): void } {
  let column = 0;
  /** White space that is written only if a word follows on the line. */
  let gap = '';
  const breakLine = () => {
    process.stdout.write('\n');
    column = 0;
    gap = '';
  };
  return {
    write(text) {
      for (const piece of text.match(/\n|\S+|[^\S\n]+/g) ?? []) {
        if (piece === '\n') breakLine();
        else if (piece.trim() === '') gap = piece;
        else {
          if (column > 0 && column + gap.length + piece.length > WIDTH - INDENT.length) breakLine();
          const before = column === 0 ? INDENT : gap;
          process.stdout.write(before + piece);
          column += piece.length + (column === 0 ? 0 : gap.length);
          gap = '';
        }
      }
    },
    end() {
      if (column > 0) process.stdout.write('\n\n');
    },
  };
}

async function readBalance(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/api/v1/balance`, { headers: { 'x-api-key': key } });
  return ((await response.json()) as { balance_rub: number }).balance_rub;
}

/** Runs the command line, like an operator beside the running service. */
function verifyLedger(databaseUrl: string): Promise<boolean> {
  const args = [join(ROOT, 'lib', 'cli', 'main.ts'), 'ledger', 'verify'];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return new Promise((resolve) => {
    child.once('close', (code) => {
      print(text.trimEnd().replace(/^/gm, INDENT), '');
      resolve(code === 0);
    });
  });
}

function heading(number: string, title: string, note: string): void {
  print(`${bold(`${number}  ${title}`)}  ${dim(note)}`);
}

function pairs(rows: readonly (readonly [name: string, value: string])[]): void {
  for (const [name, value] of rows) print(`${INDENT}${dim(name.padEnd(13))}  ${value}`);
}

function print(...lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

function amount(rub: number): string {
  return rub.toFixed(3).padStart(9);
}

/** Since this process started. */
function seconds(): string {
  return `${(performance.now() / 1000).toFixed(1)} s`;
}

/** Colours only for people: on a terminal, and without NO_COLOR. */
function bold(text: string): string {
  return styleText('bold', text, { stream: process.stdout });
}

function dim(text: string): string {
  return styleText('dim', text, { stream: process.stdout });
}
