// What each provider says that it can do: calls and files that it does not claim never reach it.
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import type { Host, HostRequest, Provider, TextCall } from '../../lib/upstream/contract/provider.ts';
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
  gemini: 'answerImages audio documents embed image models systemMessages text tools video',
  gigachat: 'embed text tools',
  kling: 'video',
  minimax: 'video',
  'openai-compatible': 'audio documents embed embedsTokens models systemMessages text tools',
  'openai-images': 'image',
  'openai-responses': 'documents models systemMessages text tools',
  'openai-videos': 'video',
  replicate: 'image video',
  runway: 'video',
  sandbox: 'embed image text tools video',
  seedance: 'video',
  xai: 'video',
  yandex: 'embed text tools',
};

async function open(name: string, settings: object = {}, extras: Partial<Host> = {}): Promise<Provider> {
  const { default: plugin } = await import(new URL(`${name}/index.ts`, PROVIDERS).href);
  const key = KEYLESS.includes(name) ? {} : { apiKey: 'key' };
  const given = { ...key, ...SETTINGS[name], ...settings };
  return createProvider({ plugin, upstream: name, settings: given, log: { warn() {} }, extras }).provider;
}

async function listAbilities(name: string, settings: object = {}): Promise<string> {
  const { stateFormat: _, toolNames: __, argumentNames: ___, ...abilities } = await open(name, settings);
  return Object.entries(abilities)
    .flatMap(([ability, value]) => (value === undefined || value === false ? [] : [ability]))
    .toSorted()
    .join(' ');
}

/** Of the providers of texts: the format of the states that they give back, and the names of tools that they refuse. */
const TOOLS: Readonly<Record<string, readonly [stateFormat: string | undefined, refused: readonly string[]]>> = {
  anthropic: ['messages', ['look.at', 'смотри', '129']],
  bedrock: ['converse', ['look.at', 'смотри', '65', '129']],
  gemini: ['contents', ['9look', 'look.at', 'смотри', '65', '129']],
  gigachat: ['gigachat', ['look-at', '9look', 'look.at', 'смотри', '65', '129']],
  'openai-compatible': ['chat', ['9look', 'look.at', 'смотри', '65', '129']],
  'openai-responses': ['responses', []],
  sandbox: [undefined, []],
  yandex: [undefined, []],
};

const TOOL_NAMES = [
  'look',
  'look_at',
  'look-at',
  '9look',
  'look.at',
  'смотри',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(129),
];
const spell = (name: string) => (name.length > 20 ? `${name.length}` : name);

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

  it('include the format of states and the refused names of tools', async () => {
    const found = await Promise.all(
      Object.keys(TOOLS).map(async (name) => {
        const { stateFormat, toolNames } = await open(name);
        return [name, [stateFormat, TOOL_NAMES.filter((tool) => toolNames?.test(tool) === false).map(spell)]];
      }),
    );
    expect(Object.fromEntries(found)).to.deep.equal(TOOLS);
  });

  it('include the refused names of arguments', async () => {
    const names = ['a.b-c_1', 'n'.repeat(64), 'n'.repeat(65), '$filter', 'filter[id]', 'an id', 'ключ', ''];
    for (const name of Object.keys(TOOLS)) {
      const { argumentNames } = await open(name);
      const refused = names.filter((each) => argumentNames?.test(each) === false);
      expect(refused, name).to.deep.equal(['anthropic', 'bedrock'].includes(name) ? names.slice(2) : []);
    }
  });
});

describe('a call of a text', () => {
  for (const name of Object.keys(TOOLS).filter((text) => !KEYLESS.includes(text))) {
    it(`names its conversation to the host at ${name}, so that it stays with its key`, async () => {
      const asked: (string | undefined)[] = [];
      const answer = (_: string, { conversation }: HostRequest) => {
        asked.push(conversation);
        return (async function* () {})();
      };
      const provider = await open(name, {}, { answer } as unknown as Partial<Host>);
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] as const;
      const call: TextCall = { model: 'm', messages, maxTokens: 9, options: {}, conversation: 'one of many' };
      for await (const _ of provider.text?.(call, new AbortController().signal) ?? []);
      expect(asked).to.deep.equal(['one of many']);
    });
  }
});
