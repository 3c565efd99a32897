// The walk over the pages of a journal: each page is read while the previous one is processed.
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { journalPages } from '../../lib/store/journal.ts';
import type { JournalPage, JournalStore } from '../../lib/store/ports/journal.ts';
import { rejection } from '../contract/store/context.ts';

describe('pages of a journal', () => {
  const first = { next: { id: 'a', seq: 1 } } as JournalPage;
  const second = { next: undefined } as JournalPage;
  let asked: unknown[];
  let unhandled: unknown[];
  let mocha: NodeJS.UnhandledRejectionListener[];
  const onUnhandled = (reason: unknown) => void unhandled.push(reason);

  beforeEach(() => {
    unhandled = [];
    mocha = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', onUnhandled);
  });
  afterEach(() => {
    process.off('unhandledRejection', onUnhandled);
    for (const listener of mocha) process.on('unhandledRejection', listener);
  });

  /** The second page is what `more` resolves to. */
  const pagesOf = (more: () => Promise<JournalPage>) => {
    asked = [];
    const page: JournalStore['page'] = async (from, limit) => {
      asked.push([from, limit]);
      return from === undefined ? first : more();
    };
    return journalPages({ page } as JournalStore, 7);
  };

  it('are read one ahead of their reader, up to the last', async () => {
    const pages = pagesOf(async () => second);
    expect((await pages.next()).value).to.equal(first);
    expect(asked).to.deep.equal([
      [undefined, 7],
      [first.next, 7],
    ]);
    expect((await pages.next()).value).to.equal(second);
    expect(await pages.next()).to.deep.equal({ done: true, value: undefined });
    expect(asked).to.have.length(2);
  });

  it('reject with the failure of the store, or with that of the reader alone', async () => {
    const broken = () => pagesOf(() => Promise.reject(new Error('the store failed')));
    expect(await rejection(Array.fromAsync(broken()))).to.have.property('message', 'the store failed');
    const read = async () => {
      for await (const _ of broken()) throw new Error('the reader failed');
    };
    expect(await rejection(read())).to.have.property('message', 'the reader failed');
    await setImmediate();
    expect(unhandled).to.deep.equal([]);
  });
});
