// The part of the catalog that operators write on pages: one more catalog file, kept in the store with all its versions, so
// that every gateway of the store has it and can go back.
import { MINUTE_MS } from '../base/durations.ts';
import { isSealed, SECRET_SETTING } from '../store/secrets.ts';
import type { Store } from '../store/store.ts';
import type { HostLog } from '../upstream/contract/provider.ts';
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
  /** Tells all gateways that this one could not load a version; repeated for as long as that lasts. */
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
/** Several times as long as a gateway takes to repeat it; what is older was put right, or its gateway has ended. */
const FAILURE_MS = 5 * MINUTE_MS;

interface ReportedFailure extends LayerFailure {
  /** Absent: an earlier version of the gateway reported it, and only once. */
  readonly reportedAt?: number;
}

type LayerStore = Pick<Store, 'catalogVersions' | 'settings'>;

export function createLayerSource(
  { catalogVersions, settings }: LayerStore,
  now: () => number = Date.now,
): LayerSource {
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
    reportFailure: (failure) =>
      settings.set(FAILURE_SETTING, JSON.stringify({ ...failure, reportedAt: now() } satisfies ReportedFailure)),
  };
}

const REPORT_POLLS = 120;
const NOT_REPORTED = 'the store did not take that a version of the catalog could not be loaded';

/** Call it at each poll: it tells operators of a failure at once, and again each minute. */
export function createFailureReport(
  source: Pick<LayerSource, 'reportFailure'> | undefined,
  log: Pick<HostLog, 'warn'>,
): (failure: LayerFailure | undefined) => Promise<void> {
  let reported: LayerFailure | undefined;
  let inPolls = 0;
  return async (failure) => {
    inPolls -= 1;
    if (!failure || (failure.at === reported?.at && inPolls > 0)) return;
    [reported, inPolls] = [failure, REPORT_POLLS];
    await source?.reportFailure(failure).catch((err: unknown) => log.warn(NOT_REPORTED, { err }));
  };
}

/** The setting that keeps the value of a variable. */
export function nameLayerSecret(variable: string): string {
  return `${SECRET_SETTING}catalog/${variable}`;
}

/** That of the latest version, while a gateway cannot load it. */
export async function findLayerFailure(
  { catalogVersions, settings }: LayerStore,
  now: number,
): Promise<LayerFailure | undefined> {
  const text = await settings.get(FAILURE_SETTING);
  const failure = text === undefined ? undefined : (JSON.parse(text) as ReportedFailure);
  if (!failure || (failure.reportedAt ?? failure.at) < now - FAILURE_MS) return undefined;
  return failure.version === (await catalogVersions.last()) ? failure : undefined;
}
