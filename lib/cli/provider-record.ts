// `tollgate provider record`: records one real upstream answer as a fixture.
import { Buffer } from 'node:buffer';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { Agent, ProxyAgent, request } from 'undici';
import { OperatorError } from '../base/operator-error.ts';
import type { TextOutcome } from '../upstream/check/outcome.ts';
import { parseRecording } from '../upstream/check/recording.ts';
import { openStage } from '../upstream/check/stage.ts';
import type { ProviderPlugin } from '../upstream/contract/provider.ts';
import { loadPlugin } from '../upstream/host/loader.ts';
import { scrub } from '../upstream/host/secret.ts';

const ANSWER_MS = 120_000;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/** With those that the plugin names; others belong to the connection, or name an account. */
const KEPT_HEADERS = ['content-type', 'location', 'retry-after', 'x-should-retry'];

const SECRET_HEADERS = /^(authorization|.*-key|.*token.*|cookie)$/i;

interface RecordOptions {
  readonly header: readonly string[];
  readonly method: string;
  readonly name: string;
  readonly source?: string;
  readonly proxy?: string;
  readonly plugin?: string;
}

export function addRecordCommand(parent: Command): void {
  parent
    .command('record')
    .description("Records one real answer for a plugin's fixtures: the body of the request is read from stdin.")
    .argument('<url>', `where to ask; \${NAME} is taken from the environment, here and in headers`)
    .option('--header <line>', 'header of the request, as often as needed', collect, [])
    .option('--method <method>', 'method of the request', 'POST')
    .option('--name <text>', 'name of the recording', 'an answer')
    .option('--source <url>', 'where the format is documented; by default the URL without its query')
    .option('--proxy <url>', 'HTTP proxy')
    .option('--plugin <folder>', 'fills in what this plugin makes of the answer: read it before you believe it')
    .addHelpText('after', `\nExample:\n  ${EXAMPLE}`)
    .action(async (url: string, options: RecordOptions) => {
      process.stdout.write(`${JSON.stringify([await record(url, options)], null, 2)}\n`);
    });
}

const EXAMPLE = `tollgate provider record https://api.acme.example/v1/generate \\
    --header 'authorization: Bearer \${ACME_API_KEY}' < request.json > acme/fixtures/hello.json`;

function collect(line: string, lines: readonly string[]): readonly string[] {
  return [...lines, line];
}

async function record(template: string, options: RecordOptions): Promise<object> {
  const { header, method, name, source, proxy } = options;
  const plugin = options.plugin === undefined ? undefined : await loadPlugin(resolve(options.plugin));
  const secrets = new Set<string>();
  const url = fillIn(template, secrets);
  const headers = Object.fromEntries(header.map((line) => readHeader(line, secrets)));
  const body = Buffer.concat(await process.stdin.toArray());
  const answer = await ask({ url, method, headers, body, proxy }).catch((error: Error) => {
    throw new OperatorError(`${error.message || String((error as NodeJS.ErrnoException).code)}`);
  });
  const found = [...secrets].filter((secret) => secret.length >= 6);
  const recording = {
    name,
    source: source ?? scrub(url.split('?')[0] as string, found),
    about: `Recorded on ${new Date().toISOString().slice(0, 10)}.`,
    reply: describeReply(answer, found, listOwnHeaders(plugin)),
  };
  const expect = plugin === undefined ? { finish: 'stop', text: '' } : await observe(recording, plugin);
  return { ...recording, expect };
}

function readHeader(line: string, secrets: Set<string>): [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon < 1) throw new OperatorError(`not a header: ${line}`);
  const name = line.slice(0, colon).trim().toLowerCase();
  const value = fillIn(line.slice(colon + 1).trim(), secrets);
  if (SECRET_HEADERS.test(name)) secrets.add(value.replace(/^\w+ /, ''));
  return [name, value];
}

function fillIn(template: string, secrets: Set<string>): string {
  return template.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = process.env[name];
    if (value === undefined) throw new OperatorError(`the environment has no ${name}`);
    secrets.add(value);
    return value;
  });
}

interface Asking {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly proxy: string | undefined;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly broken: boolean;
}

/** One request, without redirects or compression; an answer that breaks off is kept as far as it came. */
async function ask({ url, method, headers, body, proxy }: Asking): Promise<Answer> {
  const dispatcher =
    proxy === undefined ? new Agent({ allowH2: false }) : new ProxyAgent({ uri: proxy, allowH2: false });
  const response = await request(url, {
    method: method as 'POST',
    headers: { ...headers, 'accept-encoding': 'identity' },
    ...(body.length > 0 && { body }),
    dispatcher,
    signal: AbortSignal.timeout(ANSWER_MS),
    bodyTimeout: 0,
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let broken = false;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is longer than ${ANSWER_BYTES_MAX} bytes`);
    }
  } catch (error) {
    if (bytes > ANSWER_BYTES_MAX) throw error;
    broken = true;
  }
  await dispatcher.destroy();
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks), broken };
}

/** The headers that the plugin reads: of limits, and of a refusal's code. */
function listOwnHeaders({ limitHeaders = [], faultHeader }: Partial<ProviderPlugin> = {}): readonly string[] {
  const names = limitHeaders.flatMap(({ remaining, reset }) => [remaining, reset]);
  return faultHeader === undefined ? names : [...names, faultHeader];
}

function describeReply(
  { status, headers, body, broken }: Answer,
  secrets: readonly string[],
  ownHeaders: readonly string[],
): object {
  const kept = [...new Set([...KEPT_HEADERS, ...ownHeaders])].filter((name) => headers[name] !== undefined);
  const text = scrub(body.toString('utf8'), secrets);
  const isText = Buffer.from(body.toString('utf8')).equals(body);
  const bytes = Buffer.from(scrub(body.toString('latin1'), secrets), 'latin1');
  return {
    status,
    headers: Object.fromEntries(kept.map((name) => [name, scrub(String(headers[name]), secrets)])),
    ...(isText ? { body: text } : { bodyBase64: bytes.toString('base64') }),
    ...(broken && { end: 'reset' }),
  };
}

/** What the plugin makes of the recording, as an expectation. */
async function observe(recording: object, plugin: ProviderPlugin): Promise<object> {
  const complete = parseRecording({ ...recording, expect: { finish: 'stop' } }, 'the recording');
  const stage = await openStage(plugin, {});
  try {
    const outcome = (await stage.run(complete)) as TextOutcome;
    const { text, finish, usage, reasoning, states, citations, images, fault, about } = outcome;
    if (fault !== undefined) return { text, fault, ...(about !== undefined && { about }) };
    return {
      text,
      finish,
      usage,
      ...(reasoning !== '' && { reasoning }),
      ...(states.length > 0 && { state: states }),
      ...(citations.length > 0 && { citations }),
      ...(images.length > 0 && { images }),
    };
  } finally {
    await stage.close();
  }
}
