// Reads the list of models that a vendor publishes, in the three forms that vendors have it.
import { isOneLine } from '../../base/one-line.ts';
import type { Host } from '../contract/host.ts';
import type { VendorModel } from '../contract/provider.ts';
import { readFields } from './fields.ts';

/** Lists with descriptions and prices of hundreds of models are some megabytes. */
const REPLY_BYTES_MAX = 16 * 1024 * 1024;
const MODELS_MAX = 5000;
const NAME_CHARS_MAX = 200;

/** `Host.models`. */
export function createModelLister({ json }: Pick<Host, 'json'>): Host['models'] {
  return async (url, init) => readVendorModels((await json(url, { ...init, method: 'GET' }, REPLY_BYTES_MAX)).value);
}

/** `data[].id` of chat completions and messages, `models[].name` of contents, or a bare list; sorted, each once. */
function readVendorModels(value: unknown): readonly VendorModel[] {
  const { data, models } = readFields(value);
  const rows: unknown[] = [data, models, value].find(Array.isArray) ?? [];
  const ids = rows.flatMap((row) => {
    const { id, name } = readFields(row);
    const found = typeof id === 'string' ? id : name;
    return typeof found === 'string' && isName(found) ? [found.replace(/^models\//, '')] : [];
  });
  return [...new Set(ids)]
    .sort()
    .slice(0, MODELS_MAX)
    .map((id) => ({ id }));
}

function isName(text: string): boolean {
  return text !== '' && text.length <= NAME_CHARS_MAX && isOneLine(text);
}
