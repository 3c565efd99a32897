// Every call of every port reaches a thread that answers it, even one added later.
import { expect } from 'chai';
import { openDatabaseCalls, type ThreadOptions } from '../../../lib/store/sqlite/database-calls.ts';
import { createRemotePorts } from '../../../lib/store/sqlite/remote-store.ts';
import type { Thread } from '../../../lib/store/sqlite/thread.ts';
import { SCANS, THREAD_READS, THREAD_WRITES } from '../../../lib/store/sqlite/thread-ports.ts';
import { StoreError } from '../../../lib/store/store.ts';
import { rejection } from '../../contract/store/context.ts';
import { useFolder } from './folder.ts';

type Lists = Readonly<Record<string, readonly string[]>>;

const namesOf = (lists: Lists) =>
  Object.entries(lists).flatMap(([port, names]) => names.map((name) => `${port}.${name}`));

describe('ports of a sqlite store', () => {
  const folder = useFolder();

  function open(role: ThreadOptions['role'], path: string) {
    const place = { path, mediaFolder: `${path}-media`, busyMs: 1000 };
    const flags = { existing: false, readOnly: false, temporary: false, repeatable: false };
    return openDatabaseCalls({ role, connection: { ...place, ...flags } });
  }

  it('send reads to the reader threads and writes to the writer thread', () => {
    const path = folder.file();
    for (const [role, lists] of [
      ['writer', THREAD_WRITES],
      ['reader', THREAD_READS],
    ] as const) {
      const { db, run } = open(role, path);
      for (const name of namesOf(lists)) {
        const [port = '', call = ''] = name.split('.');
        // Any answer will do: the call exists.
        try {
          const answer = run(port, call, []);
          if (answer instanceof Promise) answer.catch(() => undefined);
        } catch (error) {
          expect(String(error), name).not.to.include('the database has no');
        }
      }
      expect(() => run('users', 'vanish', [])).to.throw(`the ${role} of the database has no users.vanish`);
      db.close();
    }
  });

  it('send each call to one thread, and long reads to their own thread', async () => {
    const sent: string[] = [];
    const thread = (role: string): Thread => ({
      start: async () => undefined,
      call: async (port, name) => void sent.push(`${role} ${port}.${name}`),
      close: async () => undefined,
    });
    const ports = createRemotePorts({
      writer: thread('writer'),
      reader: thread('reader'),
      scanner: thread('scanner'),
    });
    for (const calls of Object.values(ports as object)) {
      for (const call of Object.values<() => Promise<unknown>>(calls)) await call();
    }
    const scans = namesOf(SCANS as Lists);
    expect(namesOf(THREAD_READS)).to.include.members(scans);
    const walks = namesOf(THREAD_READS).filter((name) => /page$|^(journal|usage)\./i.test(name));
    // Tables of few rows.
    expect(walks.filter((name) => !scans.includes(name))).to.have.members(['promos.page', 'catalogVersions.page']);
    const reads = namesOf(THREAD_READS).filter((name) => !scans.includes(name));
    expect(sent).to.have.members([
      ...namesOf(THREAD_WRITES).map((name) => `writer ${name}`),
      ...reads.map((name) => `reader ${name}`),
      ...scans.map((name) => `scanner ${name}`),
    ]);
  });

  it('reject wrong calls as store errors, and answer the next call', async () => {
    const store = await folder.open(folder.file());
    const error = await rejection(Reflect.apply(store.sessions.clean, undefined, []));
    expect(error).to.be.instanceOf(StoreError).with.property('applied', 'no');
    await store.sessions.clean({ now: 1, since: 1 });
  });

  it('refuse the calls whose table is missing as store errors, and answer all others', async () => {
    const path = folder.file();
    await folder.open(path);
    folder.raw(path).exec('DROP TABLE promo_codes');
    const store = await folder.open(path);
    for (const call of [() => store.promos.get('A'), () => store.promos.end('A', 1), () => store.promos.get('A')]) {
      const error = await rejection(call());
      expect(error).to.be.instanceOf(StoreError).with.property('applied', 'no');
      expect(error).to.have.property('message', 'no such table: promo_codes');
    }
    await store.sessions.clean({ now: 1, since: 1 });
    expect(await store.accounts.list()).to.deep.equal([]);
  });
});
