// The channels of another gateway: its upstreams, with their keys and models.
import type { SourceChannel } from './source.ts';
import { getId, getObject, getText, getWhole, type Row } from './tables.ts';

const ENABLED = '1';

export function readChannels(rows: readonly Row[]): readonly SourceChannel[] {
  return rows.map((row) => {
    const id = getId(row, 'id', 'a channel');
    const where = `the channel ${id}`;
    const mapping = Object.entries(getObject(row, 'model_mapping', where));
    return {
      id,
      name: getText(row, 'name').trim(),
      type: getText(row, 'type').trim(),
      keys: splitKeys(getText(row, 'key')),
      baseUrl: getText(row, 'base_url').trim(),
      models: [...new Set(splitNames(getText(row, 'models')))],
      mapping: new Map(mapping.map(([model, name]) => [model, String(name)])),
      isActive: getText(row, 'status') === ENABLED,
      priority: getWhole(row, 'priority', where),
      weight: getWhole(row, 'weight', where),
    };
  });
}

/** One a line; a JSON text is one key. */
function splitKeys(text: string): readonly string[] {
  const trimmed = text.trim();
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return [trimmed];
  return trimmed.split(/\s*\n\s*/).filter((key) => key !== '');
}

function splitNames(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
