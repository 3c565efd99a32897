// What each provider says that it can do: calls and files that it does not claim never reach it.
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { createProvider } from '../../lib/upstream/host/settings.ts';

const PROVIDERS = new URL('../../providers/', import.meta.url);

/** What a plugin needs besides a key. */
const SETTINGS: Readonly<Record<string, object>> = {
  bedrock: { apiKey: `AKIAABCDEFGHIJKLMNOP:${'s'.repeat(40)}` },
  kling: { apiKey: 'access:secret' },
  yandex: { folder: 'b1g' },
};
/** It has no settings for one. */
const KEYLESS = ['sandbox'];

const ABILITIES: Readonly<Record<string, string>> = {
  anthropic: 'cacheMarkers documents messageFormat models systemMessages text tools',
  bedrock: 'text tools',
  bfl: 'image',
  dashscope: 'video',
  fal: 'image video',
  gemini: 'answerImages audio documents embed image models text tools video',
  gigachat: 'embed text tools',
  kling: 'video',
  minimax: 'video',
  'openai-compatible': 'audio documents embed embedsTokens models systemMessages text tools',
  'openai-images': 'image',
  'openai-responses': 'documents models text tools',
  'openai-videos': 'video',
  replicate: 'image video',
  runway: 'video',
  sandbox: 'embed image text tools video',
  seedance: 'video',
  xai: 'video',
  yandex: 'embed text tools',
};

async function listAbilities(name: string, settings: object = {}): Promise<string> {
  const { default: plugin } = await import(new URL(`${name}/index.ts`, PROVIDERS).href);
  const key = KEYLESS.includes(name) ? {} : { apiKey: 'key' };
  const given = { ...key, ...SETTINGS[name], ...settings };
  const { provider } = createProvider({ plugin, upstream: name, settings: given, log: { warn() {} } });
  const { stateFormat: _, toolNames: __, ...abilities } = provider;
  return Object.entries(abilities)
    .flatMap(([ability, value]) => (value === undefined || value === false ? [] : [ability]))
    .toSorted()
    .join(' ');
}

describe('abilities of the providers', () => {
  it('are those of the table', async () => {
    const names = readdirSync(PROVIDERS).toSorted();
    const found = await Promise.all(names.map(async (name) => [name, await listAbilities(name)]));
    expect(Object.fromEntries(found)).to.deep.equal(ABILITIES);
  });

  it('depend on the wire of a compatible upstream', async () => {
    const before = `${ABILITIES['openai-compatible']}`.split(' ');
    for (const [settings, ability] of [
      [{ reasoning: 'reasoning' }, 'answerImages'],
      [{ cacheMarkers: 'send' }, 'cacheMarkers'],
    ] as const) {
      const words = [...before, ability].toSorted().join(' ');
      expect(await listAbilities('openai-compatible', settings)).to.equal(words);
    }
  });
});
