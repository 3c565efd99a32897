// The vendors to choose from on pages: each has a plugin that needs an address and a key, and nothing else from its user.
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { listCatalogFiles, readCatalogFiles } from '../../lib/catalog/files.ts';
import { listVendors } from '../../lib/catalog/vendors.ts';
import { loadPlugins } from '../../lib/upstream/host/loader.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';

const SHIPPED = fileURLToPath(new URL('../../catalog', import.meta.url));

describe('the vendors to choose from', () => {
  it('need an address and a key', async () => {
    const shipped = fileURLToPath(new URL('../../providers', import.meta.url));
    const plugins = await loadPlugins({ shipped, path: [] });
    for (const { id, plugin: name, baseUrl = 'https://own.example/v1', settings: more } of listVendors()) {
      const plugin = plugins.get(name);
      if (!plugin) throw new Error(`${id}: there is no plugin ${name}`);
      const { settings } = checkSettings({ plugin, upstream: id, settings: { ...more, baseUrl, apiKey: 'key-of-it' } });
      expect(settings, id).to.include({ baseUrl, apiKey: 'key-of-it' });
    }
    expect(listVendors().some(({ title, baseUrl }) => title !== '' && baseUrl === undefined)).to.equal(false);
  });

  it('have the settings of the shipped upstream at the same address', () => {
    const { upstreams } = readCatalogFiles(listCatalogFiles(SHIPPED), ['*']);
    const shipped = Object.values(upstreams).map(({ plugin, settings }) => {
      const { baseUrl, apiKey: _, ...more } = settings ?? {};
      return { plugin, baseUrl, more };
    });
    const compared = listVendors().flatMap(({ id, plugin, baseUrl, settings = {} }) => {
      const same = shipped.find((each) => each.plugin === plugin && each.baseUrl === baseUrl);
      if (same) expect(settings, id).to.deep.include(same.more);
      return same ? [id] : [];
    });
    expect(compared).to.include.members(['openai', 'anthropic', 'gemini', 'openrouter', 'deepseek', 'mistral', 'xai']);
  });
});
