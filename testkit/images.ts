// Images in tests: models at a loopback upstream or in the sandbox, forms, and answers of upstreams.
import { type Reply, send } from './client.ts';
import type { Behaviour } from './upstream.ts';

export const GENERATIONS = '/api/v1/images/generations';
export const EDITS = '/api/v1/images/edits';

/** `draw` costs 10 RUB at the upstream, or at a second one; `sketch` 5 RUB in the sandbox; `plain` cannot edit. */
export function imageCatalog(url: string, more: object = {}): object {
  const model = (id: string, request: string, routes: readonly object[], edits = true) => ({
    id,
    type: 'image',
    provider: 'Test',
    routes,
    price: { request },
    edits,
  });
  const up = (upstream: string) => ({ upstream, model: `${upstream}-image` });
  const settings = (path: string) => ({ baseUrl: `${url}/${path}`, apiKey: 'up-secret-key-1' });
  return {
    upstreams: {
      up: { plugin: 'openai-images', settings: settings('v1') },
      other: { plugin: 'openai-images', settings: settings('other') },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the catalog
      off: { plugin: 'openai-images', settings: { ...settings('off'), apiKey: '${NOT_SET_API_KEY}' } },
      sandbox: { plugin: 'sandbox' },
    },
    models: [
      { ...model('draw', '10', [up('up'), up('other')]), aliases: ['d'] },
      model('sketch', '5', [{ upstream: 'sandbox', model: 'image' }]),
      model('plain', '3', [up('up')], false),
      model('dark', '3', [up('off')]),
      model('dark-plain', '3', [up('off')], false),
      {
        id: 'words',
        type: 'text',
        provider: 'Test',
        price: { input: '1000', output: '5000' },
        routes: [{ upstream: 'sandbox', model: 'standard' }],
      },
      {
        id: 'eye',
        type: 'text',
        provider: 'Test',
        price: { input: '1000', output: '5000' },
        vision: true,
        routes: [{ upstream: 'sandbox', model: 'vision' }],
      },
      {
        id: 'film',
        type: 'video',
        provider: 'Test',
        price: { request: '9' },
        routes: [{ upstream: 'sandbox', model: 'video' }],
      },
    ],
    vision: ['eye'],
    retired: { 'old-draw': 'draw' },
    defaults: { image: ['dark', 'sketch'], edit: ['dark', 'sketch'] },
    ...more,
  };
}

/** Answers with images inline. */
export function imageAnswer(...images: readonly Buffer[]): Behaviour {
  return ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ created: 1, data: images.map((bytes) => ({ b64_json: bytes.toString('base64') })) }));
  };
}

export interface FormPart {
  readonly name: string;
  readonly content: string | Buffer;
  /** A file has a name or a type. */
  readonly fileName?: string;
  readonly type?: string;
}

export const BOUNDARY = 'test-boundary-7MA4YWxkTrZu0gW';
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

export function encodeForm(parts: readonly FormPart[]): Buffer {
  const pieces = parts.flatMap(({ name, content, fileName, type }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`;
    const typed = type === undefined ? '' : `\r\ncontent-type: ${type}`;
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}${typed}\r\n\r\n`;
    return [Buffer.from(head), Buffer.from(content), Buffer.from('\r\n')];
  });
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

export const filePart = (name: string, content: Buffer): FormPart => ({
  name,
  content,
  fileName: 'image',
  type: 'application/octet-stream',
});

export function sendForm(url: string, key: string, parts: readonly FormPart[]): Promise<Reply> {
  return send(url + EDITS, { key, headers: { 'content-type': FORM_TYPE }, body: encodeForm(parts) });
}

interface Downloaded {
  readonly type: string | null;
  readonly bytes: Buffer;
}

/** Downloads the file behind a link. */
export async function download(url: string): Promise<Downloaded> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  return { type: response.headers.get('content-type'), bytes: Buffer.from(await response.arrayBuffer()) };
}
