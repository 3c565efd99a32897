// Checks of a plugin that needs no network: it answers by itself, in the grammar, and ends when it is aborted.
import assert from 'node:assert/strict';
import type { Provider, TextCall } from '../../../lib/plugin/contract.ts';
import { createProvider } from '../../../lib/plugin/settings.ts';
import type { Check, Subject } from './check.ts';
import { observe } from './subject.ts';

const GROUP = 'calls';

const CALL: TextCall = {
  model: 'standard',
  system: 'Be short.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello, who is there?' }] }],
  maxTokens: 1024,
  options: {},
};

const ENDED_WITHIN_MS = 100;

export function localChecks({ plugin }: Subject): readonly Check[] {
  const text = (call: TextCall, signal: AbortSignal) => {
    const { provider } = createProvider({ plugin, upstream: 'check', settings: {}, log: { warn() {} } });
    return provided(provider)(call, signal);
  };
  return [
    {
      group: GROUP,
      name: 'end with text, a finish and usage',
      run: async () => {
        const { text: answer, finish, usage, fault } = await observe((signal) => text(CALL, signal));
        assert.equal(fault, undefined);
        assert.notEqual(finish, undefined);
        assert(answer.length > 0 && (usage.input ?? 0) > 0 && (usage.output ?? 0) > 0, JSON.stringify(usage));
      },
    },
    {
      group: GROUP,
      name: 'are cut at the limit of tokens',
      run: async () => {
        const { finish, usage } = await observe((signal) => text({ ...CALL, maxTokens: 3 }, signal));
        assert.equal(finish, 'length');
        assert(usage.output !== null && usage.output <= 3, 'more output than allowed');
      },
    },
    {
      group: GROUP,
      name: 'end at once on abort',
      run: async () => {
        const controller = new AbortController();
        const iterator = text(CALL, controller.signal)[Symbol.asyncIterator]();
        await iterator.next();
        controller.abort(new Error('aborted by the check'));
        const start = performance.now();
        while (!(await iterator.next().catch(() => ({ done: true }))).done) {
          assert(performance.now() - start < ENDED_WITHIN_MS, 'the call goes on after its abort');
        }
      },
    },
  ];
}

function provided(provider: Provider): NonNullable<Provider['text']> {
  assert(provider.text, 'the provider has no text');
  return provider.text.bind(provider);
}
