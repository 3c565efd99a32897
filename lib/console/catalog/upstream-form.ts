// Reads the forms of upstreams into what the catalog keeps: settings, and the key apart from them.
import { hasAddressSecrets } from '../../base/address-secrets.ts';
import { nameSecretVariable } from '../../catalog/editor.ts';
import type { LayerUpstream } from '../../catalog/layer-edits.ts';
import { listVendors } from '../../catalog/vendors.ts';
import type { Form } from '../forms.ts';
import type { UpstreamProblem } from './upstream-words.ts';

/** What is typed in as a key, and the setting that names its variable. */
interface TypedKey {
  readonly secrets: Readonly<Record<string, string>>;
  readonly setting: { readonly apiKey?: string };
}

export interface WantedUpstream {
  readonly name: string;
  readonly upstream: LayerUpstream;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Where each is shown; a choice from the list of vendors has no place of its own. */
export const PROBLEM_FIELDS: Readonly<Partial<Record<UpstreamProblem, string>>> = {
  name: 'name',
  taken: 'name',
  url: 'url',
  urlSecret: 'url',
  urlNeeded: 'url',
  key: 'key',
  keyAgain: 'key',
};

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const KEY_CHARS_MAX = 8000;
/** What a catalog would take from the environment. */
const VARIABLE = '${';

export function readNewUpstream(sent: Form): WantedUpstream | UpstreamProblem {
  const name = sent.text('name');
  if (!NAME.test(name)) return 'name';
  const vendor = listVendors().find(({ id }) => id === sent.text('vendor'));
  if (!vendor) return 'vendor';
  const typed = sent.text('url');
  if (typed === '' && vendor.baseUrl === undefined) return 'urlNeeded';
  const wrong = typed === '' ? undefined : checkBaseUrl(typed);
  if (wrong) return wrong;
  const key = readKey(name, sent.text('key'));
  if (!key) return 'key';
  const settings = { ...vendor.settings, baseUrl: typed === '' ? vendor.baseUrl : typed, ...key.setting };
  return { name, upstream: { plugin: vendor.plugin, settings }, secrets: key.secrets };
}

export function readChangedUpstream(name: string, before: LayerUpstream, sent: Form): WantedUpstream | UpstreamProblem {
  const url = sent.text('url');
  const wrong = checkBaseUrl(url);
  if (wrong) return wrong;
  const key = readKey(name, sent.text('key'));
  if (!key) return 'key';
  const { baseUrl, apiKey, ...others } = before.settings;
  if (url !== baseUrl && apiKey !== undefined && key.setting.apiKey === undefined) return 'keyAgain';
  const kept = apiKey === undefined ? {} : { apiKey };
  // One that was added before its vendor's settings were known gets them now.
  const known = listVendors().find(({ plugin, baseUrl: home }) => plugin === before.plugin && home === url)?.settings;
  const settings = { ...known, ...others, baseUrl: url, ...kept, ...key.setting };
  return { name, upstream: { ...before, settings }, secrets: key.secrets };
}

function checkBaseUrl(text: string): 'url' | 'urlSecret' | undefined {
  const url = URL.parse(text);
  const isWeb = url !== null && ['http:', 'https:'].includes(url.protocol) && url.hash === '';
  if (!isWeb || text.includes(VARIABLE) || text.length > 500) return 'url';
  return hasAddressSecrets(url) ? 'urlSecret' : undefined;
}

function readKey(upstream: string, text: string): TypedKey | undefined {
  if (text === '') return { secrets: {}, setting: {} };
  if (text.length > KEY_CHARS_MAX || /\p{Cc}/u.test(text) || text.includes(VARIABLE)) return undefined;
  const variable = nameSecretVariable(upstream);
  return { secrets: { [variable]: text }, setting: { apiKey: `${VARIABLE}${variable}}` } };
}
