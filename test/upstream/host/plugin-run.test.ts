import { expect } from 'chai';
import {
  findFailingPlugin,
  guardMethods,
  notePluginFolder,
  PluginRun,
  runPlugin,
} from '../../../lib/upstream/host/plugin-run.ts';

const NAME = { title: 'Upstream', name: 'main' };
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('whose an unhandled error is', () => {
  it('is the plugin in whose run it happens, however much later', async () => {
    const run = new PluginRun(NAME);
    const found = await runPlugin(run, async () => {
      await turn();
      return new Promise((resolve) => setTimeout(() => resolve(findFailingPlugin(new Error('x'))), 1));
    });
    expect(found).to.equal(run);
    expect(findFailingPlugin(new Error('x'))).to.equal(undefined);
  });

  it('is the plugin that is in its stack', () => {
    notePluginFolder('/somewhere/my plugins/moody', 'moody');
    const error = new Error('x');
    error.stack = 'Error: x\n    at later (file:///somewhere/my%20plugins/moody/index.js:1:1)';
    expect(findFailingPlugin(error)).to.include({ title: 'Plugin', name: 'moody' });
    error.stack = 'Error: x\n    at later (file:///somewhere/my%20plugins/moodier/index.js:1:1)';
    expect(findFailingPlugin(error)).to.equal(undefined);
    for (const odd of [undefined, null, 'moody', { stack: 'moody' }])
      expect(findFailingPlugin(odd)).to.equal(undefined);
  });

  it('fails a run with its cause, until that is over', () => {
    const failures: unknown[] = [];
    const run = new PluginRun(NAME, (error) => failures.push(error.cause));
    run.fail('first');
    run.end();
    run.fail('second');
    expect(failures).to.deep.equal(['first']);
  });
});

describe('a plugin’s guarded methods', () => {
  class Account {
    readonly #secret = 'kept';
    readonly limits = { card: 1 };
    get live() {
      return this.#secret.length > 0;
    }
    notice(raw: string): string {
      if (raw === '') throw new TypeError('nothing');
      return `${raw} ${this.#secret}`;
    }
    async fetch(_id: string, signal: AbortSignal): Promise<never> {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }
    find(): Promise<string> {
      return Promise.resolve(this.#secret);
    }
    async start(prompt: string, _signal: AbortSignal): Promise<string> {
      return `${prompt} ${this.#secret}`;
    }
  }

  it('are the same to who calls them, of a class and of a frozen object', async () => {
    const signal = new AbortController().signal;
    const account = guardMethods(Object.freeze(new Account()), NAME);
    expect(account.live).to.equal(true);
    expect(account.limits).to.deep.equal({ card: 1 });
    expect(account.notice('raw')).to.equal('raw kept');
    expect(() => account.notice('')).to.throw(TypeError, 'nothing');
    expect(await account.find()).to.equal('kept');
    expect(await account.start('go', signal)).to.equal('go kept');
    expect(account.fetch).to.equal(account.fetch);
    const made = new Account();
    expect(guardMethods(made, NAME)).to.equal(guardMethods(made, NAME));
    expect('find' in account && !('image' in account)).to.equal(true);
    expect((account as { image?: unknown }).image).to.equal(undefined);
  });

  it('see the signal of the call abort, also one that has before', async () => {
    const account = guardMethods(new Account(), NAME);
    const controller = new AbortController();
    const asked = account.fetch('1', controller.signal).catch((reason) => reason);
    controller.abort('enough');
    expect(await asked).to.equal('enough');
    const look = { start: async (signal: AbortSignal) => signal.aborted && signal.reason };
    expect(await guardMethods(look, NAME).start(AbortSignal.abort('before'))).to.equal('before');
  });

  it('leave no listener on a signal that outlives them', async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = signal;
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners += 1;
      addEventListener.apply(signal, args);
    };
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners -= 1;
      removeEventListener.apply(signal, args);
    };
    await guardMethods(new Account(), NAME).start('go', signal);
    expect(listeners).to.equal(0);
  });

  it('reject when what they left unhandled is found, and abort what they still do', async () => {
    let run: PluginRun | undefined;
    let aborted: unknown;
    const account = guardMethods(
      {
        async image(_call: object, signal: AbortSignal) {
          signal.addEventListener('abort', () => {
            aborted = signal.reason;
          });
          await turn();
          run = findFailingPlugin(new Error('x'));
          return new Promise(() => undefined);
        },
      },
      NAME,
    );
    const asked = account.image({}, new AbortController().signal).catch((error) => error);
    await turn();
    await turn();
    const cause = new Error('nobody awaits it');
    run?.fail(cause);
    const error = (await asked) as Error;
    expect([error.message, error.cause]).to.deep.equal(['the plugin has left an error unhandled', cause]);
    expect(aborted).to.equal(error);
  });
});
