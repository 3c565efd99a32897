// The channels, models and groups of another gateway as a catalog: upstreams, models with routes and prices, price lists.
import { readFileSync } from 'node:fs';
import { isListName } from '../catalog/customer-lists.ts';
import { formatRub, type Micro } from '../money/money.ts';
import { type Decimal, dollarsToMicro, formatDecimal, multiply, priceUnits } from './amounts.ts';
import type { LeftOut, Program, Source, SourceChannel, SourcePrice } from './source.ts';

const FOLDER = new URL('../../catalog/channel-types/', import.meta.url);

/** What the numbers of a program for vendors mean. */
interface ChannelType {
  readonly title: string;
  /** Absent: nothing here speaks to the vendor. */
  readonly plugin?: string;
  readonly baseUrl?: string;
  /** Between a channel's base URL and the paths of the API. */
  readonly path?: string;
  /** The end of the base URL that the program expects and that is none here. */
  readonly endpoint?: string;
  readonly settings?: object;
}

/** The first kind whose expression finds something in a model's name is the model's. */
interface ModelKind {
  readonly type: 'text' | 'embedding' | 'image' | 'none';
  readonly names: string;
  /** Models with such names understand images. */
  readonly vision?: string;
  /** Instead of the plugin `of` of the channel. */
  readonly plugin?: string;
  readonly of?: string;
}

export interface CatalogParts {
  readonly catalog: {
    readonly upstreams: Readonly<Record<string, object>>;
    readonly models: readonly object[];
    readonly priceLists?: Readonly<Record<string, object>>;
  };
  /** The values of the variables that the catalog names. */
  readonly secrets: ReadonlyMap<string, string>;
  /** By group: the price list of its users. */
  readonly lists: ReadonlyMap<string, string>;
  readonly leftOut: readonly LeftOut[];
}

interface PartsOptions {
  /** For models whose store does not say what an output token costs, times an input token. */
  readonly completionRatio: Decimal | undefined;
  /** Names of models and upstreams that the catalog has already. */
  readonly taken: ReadonlySet<string>;
}

export function buildCatalogParts(source: Source, options: PartsOptions): CatalogParts {
  const types = readJson<{ types: Record<string, ChannelType> }>(source.program).types;
  const secrets = new Map<string, string>();
  const upstreams: Record<string, object> = {};
  const models = createModels(source, options);
  const notes: LeftOut[] = [];
  const active = source.channels.filter(({ isActive }) => isActive);
  const off = source.channels.length - active.length;
  if (off > 0) notes.push({ what: 'disabled channels', count: off, why: 'they are switched off there' });
  for (const channel of [...active].sort(compareChannels)) {
    const found = describeChannel(source.program, channel, types[channel.type]);
    if ('problem' in found) {
      notes.push({ what: `channel ${channel.id} ${channel.name}`, count: 1, why: found.problem });
      continue;
    }
    for (const { name, settings } of models.add(channel, found)) {
      upstreams[name] = settings;
      for (const [variable, value] of found.secrets) secrets.set(variable, value);
    }
  }
  const { lists, priceLists, notes: unlisted } = buildPriceLists(source.groups);
  const catalog = { upstreams, models: models.list(), ...(lists.size > 0 && { priceLists }) };
  return { catalog, secrets, lists, leftOut: [...notes, ...models.leftOut(), ...unlisted] };
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as T;
}

/** In the order in which the other gateway tries them. */
function compareChannels(one: SourceChannel, other: SourceChannel): number {
  return (
    Number(other.priority - one.priority) || Number(other.weight - one.weight) || Number(one.id) - Number(other.id)
  );
}

interface Upstream {
  readonly name: string;
  readonly title: string;
  readonly plugin: string;
  readonly settings: object;
  readonly secrets: ReadonlyMap<string, string>;
}

/** No line of a file of variables. */
const UNPRINTABLE = /[^\x21-\x7e]|['"\\$`#]/;

function describeChannel(
  program: Program,
  channel: SourceChannel,
  type: ChannelType | undefined,
): Upstream | { readonly problem: string } {
  if (!type) return { problem: `its type ${channel.type} is unknown` };
  const { title, plugin, path = '', endpoint = '' } = type;
  if (plugin === undefined) return { problem: `nothing here speaks the API of its type, ${title}` };
  const base = (channel.baseUrl || type.baseUrl || '').replace(/\/+$/, '');
  if (!URL.canParse(base)) return { problem: 'it has no base URL' };
  if (channel.keys.length === 0) return { problem: 'it has no key' };
  if (channel.keys.some((key) => UNPRINTABLE.test(key))) return { problem: 'its key is no plain text' };
  const name = `${program}-${channel.id}`;
  const stem = name.toUpperCase().replaceAll('-', '_');
  const variables = channel.keys.map((_key, at) => `${stem}${channel.keys.length > 1 ? `_${at + 1}` : ''}_API_KEY`);
  const keys = variables.map((variable) => `\${${variable}}`);
  const whole = endpoint !== '' && base.endsWith(endpoint) ? base.slice(0, -endpoint.length) : base;
  const baseUrl = whole.endsWith(path) ? whole : `${whole}${path}`;
  const settings = { baseUrl, apiKey: keys.length === 1 ? keys[0] : keys, ...type.settings };
  const secrets = new Map(variables.map((variable, at) => [variable, channel.keys[at] as string]));
  return { name, title, plugin, settings, secrets };
}

interface MadeModel {
  readonly entry: Readonly<Record<string, unknown>>;
  readonly routes: { readonly upstream: string; readonly model: string }[];
}

function createModels({ findPrice, exchange }: Source, { completionRatio, taken }: PartsOptions) {
  const { kinds } = readJson<{ kinds: readonly ModelKind[] }>('model-kinds');
  const made = new Map<string, MadeModel>();
  const refused = new Map<string, string[]>();
  const refuse = (why: string, model: string) => void refused.set(why, [...(refused.get(why) ?? []), model]);

  /** The upstreams that its models use. */
  function add(channel: SourceChannel, upstream: Upstream): readonly { name: string; settings: object }[] {
    const used = new Map<string, object>();
    for (const model of channel.models) {
      const kind = kinds.find(({ names }) => new RegExp(names, 'i').test(model));
      const target = kind && chooseUpstream(kind, upstream);
      const entry = made.get(model) ?? (kind && target && create(model, kind, channel, upstream.title));
      if (!target) refuse('nothing here makes what they make through their channel', model);
      if (!entry || !target) continue;
      made.set(model, entry);
      used.set(target.name, { plugin: target.plugin, settings: upstream.settings });
      entry.routes.push({ upstream: target.name, model: channel.mapping.get(model) ?? model });
    }
    return [...used].map(([name, settings]) => ({ name, settings }));
  }

  function create(
    id: string,
    kind: ModelKind,
    { type: channel }: SourceChannel,
    provider: string,
  ): MadeModel | undefined {
    if (taken.has(id)) return refuse('the catalog has models of these names already', id);
    const found = findPrice(id, channel);
    if (!found) return refuse('the store has no price of them', id);
    const price = buildPrice(kind, found);
    if (typeof price === 'string') return refuse(price, id);
    const { type } = kind;
    const text = {
      tools: true,
      json: true,
      ...(kind.vision && new RegExp(kind.vision, 'i').test(id) && { vision: true }),
    };
    return { entry: { id, type, provider, price, ...(type === 'text' && text) }, routes: [] };
  }

  function buildPrice(kind: ModelKind, found: SourcePrice): object | string {
    if (kind.type === 'image') {
      const request =
        found.per === 'call' ? dollarsToMicro(found.dollars, exchange) : priceUnits(THOUSAND, found.input, exchange);
      return formatPrices({ request });
    }
    if (found.per === 'call') return 'they cost an amount a call there, and tokens are counted here';
    const each = (ratio: Decimal | undefined) =>
      ratio === undefined ? undefined : priceUnits(MILLION, ratio, exchange);
    if (kind.type === 'embedding') return formatPrices({ input: each(found.input) });
    const output = found.output ?? (completionRatio && multiply(found.input, completionRatio));
    if (!output) return 'the store does not say what their output costs: --completion-ratio does';
    const { input, audio, cacheRead, cacheWrite } = found;
    const others = { audio: each(audio), cacheRead: each(cacheRead), cacheWrite: each(cacheWrite) };
    return formatPrices({ input: each(input), output: each(output), ...others });
  }

  return {
    add,
    list: () => [...made.values()].map(({ entry, routes }) => ({ ...entry, routes })),
    leftOut: (): readonly LeftOut[] =>
      [...refused]
        .map(([why, names]) => {
          const list = [...new Set(names)].filter((name) => !made.has(name));
          return { what: `models ${list.join(', ')}`, count: list.length, why };
        })
        .filter(({ count }) => count > 0),
  };
}

const THOUSAND = 1000n;
const MILLION = 1_000_000n;

function chooseUpstream(kind: ModelKind, { name, plugin }: Upstream): { name: string; plugin: string } | undefined {
  if (kind.type === 'none') return undefined;
  if (kind.plugin === undefined) return { name, plugin };
  return kind.of === plugin ? { name: `${name}-${kind.type}`, plugin: kind.plugin } : undefined;
}

function formatPrices(prices: Readonly<Record<string, Micro | undefined>>): object | string {
  const stated = Object.entries(prices).filter((entry): entry is [string, Micro] => entry[1] !== undefined);
  if (stated.some(([, amount]) => amount <= 0n)) return 'they cost nothing there, and nothing is free here';
  return Object.fromEntries(stated.map(([name, amount]) => [name, formatRub(amount)]));
}

const FACTOR_MAX = 1000n;

/** Groups whose prices are those of the models need no list. */
function buildPriceLists(groups: Source['groups']) {
  const lists = new Map<string, string>();
  const priceLists: Record<string, object> = {};
  const notes: LeftOut[] = [];
  for (const [group, ratio] of groups) {
    const factor = formatDecimal(ratio);
    if (factor === '1') continue;
    if (ratio.units === 0n || ratio.units > FACTOR_MAX * 10n ** BigInt(ratio.scale) || /\.\d{7}/.test(factor)) {
      notes.push({ what: `group ${group}`, count: 1, why: `a price list cannot have the factor ${factor}` });
      continue;
    }
    const slug = group
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .slice(0, 36);
    const isFree = isListName(slug) && !Object.hasOwn(priceLists, slug);
    const name = isFree ? slug : makeListName(priceLists, lists.size + 1);
    lists.set(group, name);
    priceLists[name] = { factor };
  }
  return { lists, priceLists, notes };
}

/** A name that no other group has. */
function makeListName(taken: Readonly<Record<string, object>>, number: number): string {
  const name = `group-${number}`;
  return Object.hasOwn(taken, name) ? makeListName(taken, number + 1) : name;
}
