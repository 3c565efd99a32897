// A live catalog over a folder for a test, with a third-party plugin.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogHistory } from '../../lib/catalog/history.ts';
import type { LayerSource } from '../../lib/catalog/layer.ts';
import { type LiveCatalog, openLiveCatalog } from '../../lib/catalog/live.ts';
import type { CatalogConfig } from '../../lib/catalog/load.ts';
import type { LossNotice } from '../../lib/catalog/loss.ts';
import type { TextModel } from '../../lib/catalog/model.ts';
import type { Provider } from '../../lib/upstream/contract/provider.ts';
import { until } from '../../testkit/client.ts';
import { type CatalogFolder, catalogOf, makeFolder, TEXT } from './folder.ts';

/** A plugin as a third party writes one, in a folder of its own; its providers are numbered and know that they ended. */
const PLUGIN = `
export const made = (globalThis.madeByTestPlugin ??= []);
export default {
  contract: 2,
  name: 'test-plugin',
  settings: (joi) => joi.object({ apiKey: joi.string().required().meta({ secret: true }), refuse: joi.boolean() }),
  create(settings) {
    if (settings.refuse) throw new Error('refused ' + settings.apiKey);
    const provider = { closed: 0, async *text() {}, async close() { provider.closed += 1; throw new Error('unwilling'); } };
    made.push(provider);
    return provider;
  },
};
`;
export type Numbered = Provider & { closed: number };
export const made = (): Numbered[] => {
  const shared = globalThis as { madeByTestPlugin?: Numbered[] };
  shared.madeByTestPlugin ??= [];
  return shared.madeByTestPlugin;
};

export interface LoadOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly sandbox?: boolean;
  readonly totalTimeoutMs?: number;
  readonly lookEveryMs?: number;
  /** Instead of the stage's own. */
  readonly catalogDir?: string;
  readonly paymentsPath?: readonly string[];
  readonly noteCost?: (upstream: string) => Promise<void>;
  readonly history?: CatalogHistory;
  readonly layer?: LayerSource;
  readonly now?: () => number;
}

export class CatalogStage {
  folder: CatalogFolder = undefined as unknown as CatalogFolder;
  lines: string[] = [];
  secrets: string[] = [];
  /** Those of each catalog that took effect. */
  losses: (readonly LossNotice[])[] = [];
  #live: LiveCatalog | undefined;

  open(): void {
    this.folder = makeFolder();
    mkdirSync(join(this.plugins, 'test-plugin'), { recursive: true });
    writeFileSync(join(this.plugins, 'test-plugin', 'index.js'), PLUGIN);
    writeFileSync(join(this.plugins, 'package.json'), '{ "type": "module" }');
    [this.lines, this.secrets, this.losses, this.#live] = [[], [], [], undefined];
    made().length = 0;
  }

  async close(): Promise<void> {
    await this.#live?.close();
    this.folder.remove();
  }

  get plugins(): string {
    return join(this.folder.root, 'plugins');
  }

  get live(): LiveCatalog {
    if (!this.#live) throw new Error('no catalog is loaded');
    return this.#live;
  }

  configOf(options: LoadOptions): CatalogConfig {
    const { env = {}, totalTimeoutMs = 60_000, catalogDir = this.folder.catalog, paymentsPath = [] } = options;
    return { catalogDir, catalogVariables: ['*'], providersPath: [this.plugins], paymentsPath, env, totalTimeoutMs };
  }

  async load(options: LoadOptions = {}): Promise<void> {
    const { sandbox = false, lookEveryMs = 100, noteCost, history, layer, now } = options;
    const note = (message: string) => void this.lines.push(message);
    this.#live = await openLiveCatalog({
      config: this.configOf(options),
      sandbox,
      pollEveryMs: lookEveryMs,
      log: { info: note, warn: note, error: note },
      onSecrets: (found) => void this.secrets.push(...found),
      ...(noteCost && { recordRealMoney: noteCost }),
      ...(history && { history }),
      ...(layer && { layer }),
      ...(now && { now }),
      onLosses: (losses) => void this.losses.push(losses),
    });
  }

  /** An upstream on the test's plugin. */
  readonly up = (apiKey: unknown, more: object = {}): object => ({
    plugin: 'test-plugin',
    settings: { apiKey, ...more },
  });

  /** One text model on the first of the upstreams, at a price. */
  readonly content = (upstreams: object, price = '240'): object =>
    catalogOf({ upstreams, models: [{ ...TEXT, price: { input: '40', output: price } }] });

  model(): TextModel {
    return this.live.current().models[0] as TextModel;
  }

  providerNow(): Numbered {
    return this.model().routes[0]?.provider as Numbered;
  }

  priceIs(micro: bigint): Promise<void> {
    return until(() => this.model().price.output === micro);
  }
}
