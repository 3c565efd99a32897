// The part of the catalog that operators write on pages: one more catalog file, kept in the store with all its versions, so
// that every gateway of the store has it and can go back.
import { isSealed, SECRET_SETTING } from '../store/secrets.ts';
import type { Store } from '../store/store.ts';
import { listVariables } from './variables.ts';

export interface CatalogLayer {
  /** The number of its latest version, from 1. */
  readonly version: number;
  /** A catalog file. */
  readonly text: string;
  /** The secrets that its upstreams name as variables; those that cannot be decrypted are missing. */
  readonly secrets: Readonly<Record<string, string>>;
}

export interface LayerSource {
  /** The number of the latest version; 0 if there is none. */
  last(): Promise<number>;
  /** Undefined if there is no version. */
  read(): Promise<CatalogLayer | undefined>;
  /** Tells all gateways that this one could not load a version. */
  reportFailure(failure: LayerFailure): Promise<void>;
}

/** A version that a gateway could not load. */
export interface LayerFailure {
  readonly version: number;
  /** ms since the epoch. */
  readonly at: number;
  /** Without secrets. */
  readonly reason: string;
}

/** What the layer is called where messages name files. */
export const LAYER_FILE = 'console.json of the store';
/** Only the layer's upstreams may name these. */
export const LAYER_VARIABLES: readonly string[] = ['CONSOLE_*'];

const FAILURE_SETTING = 'catalog/console-failure';

type LayerStore = Pick<Store, 'catalogVersions' | 'settings'>;

export function createLayerSource({ catalogVersions, settings }: LayerStore): LayerSource {
  return {
    last: () => catalogVersions.last(),
    async read() {
      const [latest] = await catalogVersions.page({ limit: 1 });
      if (!latest) return undefined;
      const names = [...listVariables(JSON.parse(latest.text))];
      const values = await Promise.all(names.map((name) => settings.get(nameLayerSecret(name))));
      const found = names.flatMap((name, at) => {
        const value = values[at];
        return value && !isSealed(value) ? [[name, value] as const] : [];
      });
      return { version: latest.seq, text: latest.text, secrets: Object.fromEntries(found) };
    },
    reportFailure: (failure) => settings.set(FAILURE_SETTING, JSON.stringify(failure)),
  };
}

/** The setting that keeps the value of a variable. */
export function nameLayerSecret(variable: string): string {
  return `${SECRET_SETTING}catalog/${variable}`;
}

/** That of the latest version, if a gateway could not load it. */
export async function findLayerFailure({ catalogVersions, settings }: LayerStore): Promise<LayerFailure | undefined> {
  const text = await settings.get(FAILURE_SETTING);
  const failure = text === undefined ? undefined : (JSON.parse(text) as LayerFailure);
  return failure && failure.version === (await catalogVersions.last()) ? failure : undefined;
}
