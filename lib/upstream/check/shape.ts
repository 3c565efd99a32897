// Checks of a plugin's settings: complete ones create a provider, nonsense is refused, the key stays secret.
import assert from 'node:assert/strict';
import { OperatorError } from '../../base/operator-error.ts';
import { checkSettings, createProvider } from '../host/settings.ts';
import { leavesLoop } from './first-call.ts';
import { watchOutput } from './output-watch.ts';
import { describeSettings, settingsAt, UNUSED_URL } from './stage.ts';
import { type Check, KINDS, type Subject } from './subject.ts';
import { watchTimers } from './timer-watch.ts';

const GROUP = 'settings';

export function settingsChecks(subject: Subject): readonly Check[] {
  const { plugin, recordings } = subject;
  const valid = () => settingsAt(UNUSED_URL, plugin, recordings[0]?.settings ?? {});
  const known = Object.entries(describeSettings(plugin));
  const checks: Check[] = [
    {
      group: GROUP,
      name: 'make a provider that can do something',
      run: async () => {
        const settings = valid();
        const watch = watchOutput(plugin, () => checkSettings({ plugin, upstream: 'check', settings }).secrets);
        const open = createProvider({ plugin, upstream: 'check', settings, log: watch.log });
        await open.close();
        watch.end();
        const { provider } = open;
        const can = KINDS.filter((kind) => provider[kind] !== undefined);
        assert(can.length > 0, 'the provider has none of text, embed, image and video');
        for (const kind of can) assert.equal(typeof provider[kind], kind === 'video' ? 'object' : 'function', kind);
      },
    },
    {
      group: GROUP,
      name: 'make it without holding the event loop',
      run: () =>
        leavesLoop('making a provider', () =>
          createProvider({ plugin, upstream: 'check', settings: valid(), log: { warn() {} } }).close(),
        ),
    },
    { group: GROUP, name: 'make it without a timer', run: () => leavesNoTimer(subject, valid()) },
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

/** It is made again whenever the settings change, and also to be checked. */
async function leavesNoTimer({ plugin, folder }: Subject, settings: unknown): Promise<void> {
  const watch = watchTimers(folder);
  try {
    const open = createProvider({ plugin, upstream: 'check', settings, log: { warn() {} } });
    const [left] = watch.left();
    await open.close();
    assert(left === undefined, `create() sets a timer, although it is to do nothing but make the provider: ${left}`);
  } finally {
    watch.end();
  }
}

function refuses({ plugin }: Subject, settings: unknown): void {
  assert.throws(
    () => checkSettings({ plugin, upstream: 'check', settings }),
    OperatorError,
    `${JSON.stringify(settings)} passed`,
  );
}

/** Invalid values for a setting of this name and type. */
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
      const settings = valid();
      const { secrets } = checkSettings({ plugin, upstream: 'check', settings });
      assert.deepEqual([...secrets], [settings.apiKey].flat());
    },
  };
}
