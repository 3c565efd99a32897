// Checks of a plugin's settings: complete ones make a provider, nonsense is refused, the key is kept secret.
import assert from 'node:assert/strict';
import { OperatorError } from '../../../lib/config.ts';
import { checkSettings, createProvider } from '../../../lib/plugin/settings.ts';
import type { Check, Subject } from './check.ts';
import { API_KEY, describeSettings, settingsAt } from './subject.ts';

const GROUP = 'settings';

/** Nothing listens there, and nothing needs to: creating a provider does no I/O. */
const ORIGIN = 'http://127.0.0.1:9';

export function settingsChecks(subject: Subject): readonly Check[] {
  const { plugin, recordings } = subject;
  const valid = () => settingsAt(ORIGIN, plugin, recordings[0]?.settings ?? {});
  const known = Object.entries(describeSettings(plugin));
  const checks: Check[] = [
    {
      group: GROUP,
      name: 'make a provider that can do something',
      run: async () => {
        const open = createProvider({ plugin, upstream: 'check', settings: valid(), log: { warn() {} } });
        await open.close();
        assert(typeof open.provider.text === 'function', 'the provider has no function text');
      },
    },
    { group: GROUP, name: 'refuse an unknown key', run: async () => refuses(subject, { ...valid(), noSuchKey: 1 }) },
    { group: GROUP, name: 'refuse what is no object', run: async () => refuses(subject, 'nonsense') },
  ];
  for (const [name, description] of known) {
    const wrong = wrongValues(name, description.type);
    if (wrong.length === 0) continue;
    checks.push({
      group: GROUP,
      name: `refuse a wrong ${name}`,
      run: async () => {
        for (const value of wrong) refuses(subject, { ...valid(), [name]: value });
      },
    });
  }
  if (known.some(([name]) => name === 'apiKey')) checks.push(secretCheck(subject, valid));
  return checks;
}

function refuses({ plugin }: Subject, settings: unknown): void {
  assert.throws(
    () => checkSettings({ plugin, upstream: 'check', settings }),
    OperatorError,
    `${JSON.stringify(settings)} passed`,
  );
}

/** What no setting of this name and type may be. */
function wrongValues(name: string, type: string | undefined): readonly unknown[] {
  if (name === 'apiKey') return ['', 42, [], [42], {}];
  if (name.endsWith('Url') || name === 'proxy') return ['', 'no url', 'ftp://127.0.0.1', 42];
  switch (type) {
    case 'string':
      return [42, {}];
    case 'number':
      return ['42', Number.NaN, {}];
    case 'boolean':
      return ['true', 1];
    case 'array':
      return ['text', {}];
    case 'object':
      return ['text', []];
    default:
      return [];
  }
}

function secretCheck({ plugin }: Subject, valid: () => Record<string, unknown>): Check {
  return {
    group: GROUP,
    name: 'mark apiKey as a secret',
    run: async () => {
      const description = JSON.stringify(describeSettings(plugin).apiKey);
      assert(description.includes('"secret":true'), 'apiKey lacks .meta({ secret: true })');
      const { secrets } = checkSettings({ plugin, upstream: 'check', settings: { ...valid(), apiKey: API_KEY } });
      assert.deepEqual([...secrets], [API_KEY]);
    },
  };
}
