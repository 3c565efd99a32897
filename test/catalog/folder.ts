// A folder of catalog files for a test, and the smallest valid catalog.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { buildCatalog, type Catalog } from '../../lib/catalog/catalog.ts';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import type { Provider } from '../../lib/upstream/contract/provider.ts';

export interface CatalogFolder {
  readonly root: string;
  readonly catalog: string;
  /** An object is written as JSON. */
  write(content: unknown, name?: string): void;
  remove(): void;
}

export function makeFolder(): CatalogFolder {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-catalog-'));
  const catalog = join(root, 'catalog');
  mkdirSync(catalog);
  return {
    root,
    catalog,
    write(content, name = 'models.json') {
      writeFileSync(join(catalog, name), typeof content === 'string' ? content : JSON.stringify(content));
    },
    remove: () => rmSync(root, { recursive: true }),
  };
}

/** A variable as the catalog writes it. */
export const variable = (name: string) => `\${${name}}`;

export function upstream(more: object = {}): object {
  return { plugin: 'openai-compatible', settings: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'key-of-it' }, ...more };
}

export const TEXT = {
  id: 'text-1',
  type: 'text',
  provider: 'Someone',
  routes: [{ upstream: 'one', model: 'their-1' }],
  price: { input: '40', output: '240.5' },
};
export const IMAGE = { ...TEXT, id: 'image-1', type: 'image', price: { request: '12.5' } };
export const VIDEO = { ...TEXT, id: 'video-1', type: 'video', price: { second: { '720p': '8', '1080p': '15' } } };

export function catalogOf(more: object = {}): object {
  return { upstreams: { one: upstream() }, models: [TEXT, IMAGE, VIDEO], ...more };
}

/** The one line of the mistake that is found. */
export function mistakeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error, String(error)).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  }
  throw new Error('no mistake was found');
}

/** A provider that can do text, and one that can do everything. */
export const PROVIDER: Provider = {
  text: async function* () {
    yield [];
  },
};
export const ALL = { ...PROVIDER, image: () => undefined, video: {} } as unknown as Provider;

/** The catalog that a file with this content makes. */
export function build(
  content: object,
  providers: Readonly<Record<string, Provider>> = { one: PROVIDER },
  options: Parameters<typeof buildCatalog>[2] = {},
): Catalog {
  const folder = makeFolder();
  try {
    folder.write(content);
    const upstreams = Object.entries(providers).map(
      ([name, provider]) =>
        [name, { provider, origin: `https://${name}.test`, proxy: `http://proxy.${name}.test` }] as const,
    );
    return buildCatalog(readCatalogFiles(listCatalogFiles(folder.catalog), ['*']), new Map(upstreams), options);
  } finally {
    folder.remove();
  }
}
