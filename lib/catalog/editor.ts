// Saves the part of the catalog that operators write on pages: only what a start would load, and never over a change that its
// author has not seen. Keys of vendors are kept encrypted, apart from the text.
import { randomBytes } from 'node:crypto';
import type { CatalogVersion } from '../store/ports/catalog-versions.ts';
import type { Store } from '../store/store.ts';
import { createLayerSource, findLayerFailure, type LayerFailure, nameLayerSecret } from './layer.ts';
import type { LayerPart } from './layer-edits.ts';
import type { LayerTrial, LiveCatalog } from './live.ts';
import { createPauseStore } from './pauses.ts';
import { listVariables } from './variables.ts';

/** The part as it is now. */
export interface Draft {
  /** 0 if there is none yet. */
  readonly version: number;
  readonly part: LayerPart;
}

/** Values of variables that the part names for the first time. */
export type NewSecrets = Readonly<Record<string, string>>;

interface SaveWish {
  /** The version that its author has seen. */
  readonly seen: number;
  readonly part: LayerPart;
  readonly secrets?: NewSecrets;
  /** The id of the user; `-` for a command. */
  readonly user: string;
  /** What is done, and to what, without secrets: `model.change gpt-x`. */
  readonly note: string;
}

export type SaveResult =
  | { readonly status: 'saved'; readonly version: number }
  /** Somebody has saved another version since. */
  | { readonly status: 'changed' }
  /** A start would refuse it. */
  | { readonly status: 'refused'; readonly problem: string };

export interface CatalogEditor {
  /** Whether keys can be kept: `SECRETS_KEY` is set. */
  readonly keepsSecrets: boolean;
  /** Pauses an upstream at all gateways, or resumes it; `user` is an id. */
  setPause(upstream: string, isPaused: boolean, user: string): Promise<void>;
  /** Has this gateway load it first, and which upstreams are paused, so that what pages show of the catalog is not older. */
  read(): Promise<Draft>;
  /** Loads a part like a start, and uses it for nothing. */
  tryPart(part: LayerPart, secrets?: NewSecrets): Promise<LayerTrial>;
  save(wish: SaveWish): Promise<SaveResult>;
  /** Saves an earlier version again; 0 empties the part. Undefined if there is no such version. */
  restore(version: number, wish: Omit<SaveWish, 'part' | 'secrets'>): Promise<SaveResult | undefined>;
  /** The latest first. */
  history(limit: number): Promise<readonly CatalogVersion[]>;
  /** Why a gateway could not load the latest version, if one could not. */
  failure(): Promise<LayerFailure | undefined>;
}

interface EditorOptions {
  readonly store: Pick<Store, 'catalogVersions' | 'settings'>;
  readonly live: Pick<LiveCatalog, 'tryLayer' | 'loadLayer' | 'loadPauses' | 'reload'>;
  readonly keepsSecrets: boolean;
  readonly now?: () => number;
}

export function createCatalogEditor({ store, live, keepsSecrets, now = Date.now }: EditorOptions): CatalogEditor {
  const { catalogVersions, settings } = store;
  const source = createLayerSource(store);
  const pauses = createPauseStore(settings);

  async function read(): Promise<Draft> {
    const [[latest]] = await Promise.all([catalogVersions.page({ limit: 1 }), live.loadPauses()]);
    if (!latest) return { version: 0, part: {} };
    await live.loadLayer(latest.seq);
    return { version: latest.seq, part: JSON.parse(latest.text) };
  }

  async function tryPart(part: LayerPart, secrets: NewSecrets = {}): Promise<LayerTrial> {
    return live.tryLayer({ text: JSON.stringify(part), secrets: { ...(await readSecrets(part)), ...secrets } });
  }

  async function readSecrets(part: LayerPart): Promise<NewSecrets> {
    const current = (await source.read())?.secrets ?? {};
    const missing = [...listVariables(part)].filter((name) => current[name] === undefined);
    const found = await Promise.all(missing.map(async (name) => [name, await settings.get(nameLayerSecret(name))]));
    return { ...current, ...Object.fromEntries(found.filter(([, value]) => value)) };
  }

  async function save({ seen, part, secrets = {}, user, note }: SaveWish): Promise<SaveResult> {
    const text = JSON.stringify(part, undefined, 2);
    const tried = await tryPart(part, secrets);
    if ('problem' in tried) return { status: 'refused', problem: tried.problem };
    if ((await catalogVersions.last()) !== seen) return { status: 'changed' };
    if (Object.keys(secrets).length > 0 && !keepsSecrets) throw new Error('secrets cannot be kept without a key');
    // Before the version that names them; without it, nothing does.
    for (const [name, value] of Object.entries(secrets)) await settings.set(nameLayerSecret(name), value);
    const version = seen + 1;
    if (!(await catalogVersions.add({ seq: version, at: now(), user, note, text }))) return { status: 'changed' };
    await live.reload();
    return { status: 'saved', version };
  }

  async function setPause(upstream: string, isPaused: boolean, user: string): Promise<void> {
    await pauses.set(upstream, isPaused ? { by: user, at: now() } : undefined);
    await live.loadPauses();
  }

  return {
    keepsSecrets,
    setPause,
    read,
    tryPart,
    save,
    async restore(version, wish) {
      const row = version === 0 ? { text: '{}' } : await catalogVersions.get(version);
      return row && save({ ...wish, part: JSON.parse(row.text) });
    },
    history: (limit) => catalogVersions.page({ limit }),
    failure: () => findLayerFailure(store, now()),
  };
}

/** A name that no other key has had: an earlier version keeps its own. It ends like those that a catalog file may use. */
export function nameSecretVariable(upstream: string): string {
  const readable = upstream
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, 40);
  return `CONSOLE_${readable}_${randomBytes(4).toString('hex').toUpperCase()}_API_KEY`;
}
