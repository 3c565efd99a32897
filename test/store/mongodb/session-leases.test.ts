// The sessions of a process: their number, when their lease is written, and what happens to broken ones.
import { expect } from 'chai';
import type { ClientSession, Document } from 'mongodb';
import type { Connection } from '../../../lib/store/mongodb/connection.ts';
import { createSessions, type TransactionSessions } from '../../../lib/store/mongodb/transaction-sessions.ts';
import { makeGate } from '../../../testkit/faulty-store.ts';
import { rejection } from '../../contract/store/context.ts';

const SESSIONS_MAX = 48;
const LEASE_MS = 2000;

const numberOf = (session: ClientSession) => (session.id as Document).id;
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('sessions of MongoDB transactions', () => {
  const { now: realNow } = performance;
  let now: number;
  let started: number;
  let ended: number[];
  let sent: Document[];
  /** Rows of other processes with expired leases. */
  let left: Document[];
  let refused: (command: Document) => boolean;
  /** How long the server takes for a command. */
  let tookMs: number;
  /** Delays its answers. */
  let held: Promise<unknown> | undefined;
  let sessions: TransactionSessions;

  beforeEach(() => {
    [now, started, ended, sent, left, refused, tookMs] = [10_000, 0, [], [], [], () => false, 0];
    held = undefined;
    performance.now = () => now;
    sessions = createSessions(fake());
  });
  afterEach(() => {
    performance.now = realNow;
  });

  function fake(): Connection {
    const command = async (document: Document) => {
      sent.push(document);
      now += tookMs;
      await held;
      if (refused(document)) throw new Error('refused');
      return { n: 1 };
    };
    const startSession = () => {
      const number = ++started;
      return { id: { id: number }, endSession: async () => ended.push(number) };
    };
    const find = (_: Document, { signal }: Document) => {
      expect(signal).to.be.instanceOf(AbortSignal);
      return { toArray: async () => left };
    };
    const collection = () => ({ find });
    return { client: { startSession, db: () => ({ command }) }, db: { command, collection } } as unknown as Connection;
  }

  const records = () => sent.filter(({ update }) => update === 'sessions');
  const recorded = () =>
    records().map(({ updates }) => updates[0].u[0].$set.sessions.$literal.map(({ id }: Document) => id));
  const kills = () => sent.flatMap(({ killSessions }) => (killSessions ? [killSessions] : []));
  const removed = () => sent.filter((command) => command.delete === 'sessions');

  it('are recorded before their first use, and not again during the lease', async () => {
    const session = await sessions.takeSession();
    expect(recorded()).to.deep.equal([[1]]);
    expect(records()[0]?.updates[0]).to.deep.include({ upsert: true });
    sessions.returnSession(session, 'idle');
    expect(await sessions.takeSession()).to.equal(session);
    expect(recorded()).to.deep.equal([[1]]);
    await sessions.takeSession();
    expect(recorded()).to.deep.equal([[1], [1, 2]]);
  });

  it('are renewed after a third of their lease, and not used near its end', async () => {
    sessions.returnSession(await sessions.takeSession(), 'idle');
    now += LEASE_MS / 3 + 1;
    sessions.returnSession(await sessions.takeSession(), 'idle');
    expect(records()).to.have.length(2);
    await turn();
    now += (LEASE_MS * 2) / 3 + 1;
    refused = () => true;
    expect(await rejection(sessions.takeSession())).to.have.property('message', 'refused');
    refused = () => false;
    await sessions.takeSession();
    expect(started, 'the one that could not be written down is used later').to.equal(1);
  });

  it('have a lease that counts from the request, however late the server confirms it', async () => {
    tookMs = LEASE_MS / 2;
    sessions.returnSession(await sessions.takeSession(), 'idle');
    now += LEASE_MS / 4;
    refused = () => true;
    expect(await rejection(sessions.takeSession()), 'it has to be written again first').to.have.property(
      'message',
      'refused',
    );
  });

  it('are 48 at most, and later callers wait for a free one', async () => {
    const taken: ClientSession[] = [];
    for (let count = 0; count < SESSIONS_MAX; count += 1) taken.push(await sessions.takeSession());
    const [first, second] = taken as [ClientSession, ClientSession];
    const waiting = [sessions.takeSession(), sessions.takeSession()] as const;
    await turn();
    expect(started).to.equal(SESSIONS_MAX);
    sessions.returnSession(first, 'idle');
    expect(await waiting[0]).to.equal(first);
    sessions.returnSession(second, 'broken');
    expect(numberOf(await waiting[1]), 'in the place of a broken one').to.equal(SESSIONS_MAX + 1);
  });

  it('are 48 at most, even if a new caller takes the session of a woken one', async () => {
    const taken: ClientSession[] = [];
    for (let count = 0; count < SESSIONS_MAX; count += 1) taken.push(await sessions.takeSession());
    const [first, second] = taken as [ClientSession, ClientSession];
    const waiting = sessions.takeSession();
    await turn();
    sessions.returnSession(first, 'idle');
    expect(await sessions.takeSession()).to.equal(first);
    await turn();
    expect(started).to.equal(SESSIONS_MAX);
    sessions.returnSession(second, 'idle');
    expect(await waiting).to.equal(second);
  });

  it('are killed and ended if they are broken, and not reused', async () => {
    sessions.returnSession(await sessions.takeSession(), 'broken');
    await turn();
    expect(kills()).to.deep.equal([[{ id: 1 }]]);
    expect(ended).to.deep.equal([1]);
    expect(numberOf(await sessions.takeSession())).to.equal(2);
  });

  it('stay recorded until the server has confirmed that they are dead', async () => {
    refused = ({ killSessions }) => killSessions !== undefined;
    sessions.returnSession(await sessions.takeSession(), 'broken');
    await turn();
    await sessions.takeSession();
    expect(recorded().at(-1)).to.deep.equal([2, 1]);
    expect(ended).to.deep.equal([]);
    refused = () => false;
    await sessions.reap();
    expect(kills().at(-1)).to.deep.equal([{ id: 1 }]);
    expect(ended).to.deep.equal([1]);
    await sessions.reap();
    expect(kills(), 'once').to.have.length(2);
  });

  it('of dead processes are killed and their row removed, at most four times a second', async () => {
    left = [
      { _id: 'ses_1', until: 5, sessions: [{ id: 'a' }, { id: 'b' }] },
      { _id: 'ses_2', until: 6, sessions: [] },
    ];
    await sessions.reap();
    expect(kills()).to.deep.equal([[{ id: 'a' }, { id: 'b' }]]);
    const rows = removed().map(({ deletes }) => deletes[0].q);
    expect(rows).to.deep.equal([
      { _id: 'ses_1', until: 5 },
      { _id: 'ses_2', until: 6 },
    ]);
    now += 250;
    await sessions.reap();
    expect(kills()).to.have.length(1);
    now += 1;
    await Promise.all([sessions.reap(), sessions.reap()]);
    expect(kills(), 'both wait for the same').to.have.length(2);
  });

  it('of dead processes are searched again after a failed search', async () => {
    left = [{ _id: 'ses_1', until: 5, sessions: [{ id: 'a' }] }];
    refused = ({ killSessions }) => killSessions !== undefined;
    expect(await rejection(sessions.reap())).to.have.property('message', 'refused');
    expect(removed()).to.deep.equal([]);
    refused = () => false;
    now += 251;
    await sessions.reap();
    expect(removed()).to.have.length(1);
  });

  it('leave no row at the close, unless one of them may be alive', async () => {
    const idle = await sessions.takeSession();
    sessions.returnSession(idle, 'idle');
    await sessions.close();
    const [row] = records();
    expect(removed().map(({ deletes }) => deletes[0])).to.deep.equal([{ q: row?.updates[0].q, limit: 1 }]);
    sent = [];
    const others = createSessions(fake());
    refused = ({ killSessions }) => killSessions !== undefined;
    others.returnSession(await others.takeSession(), 'broken');
    await others.close();
    expect(removed()).to.deep.equal([]);
  });

  it('leave no row whose write is running at the close', async () => {
    sessions.returnSession(await sessions.takeSession(), 'idle');
    now += LEASE_MS / 3 + 1;
    const gate = makeGate();
    held = gate.opened;
    sessions.returnSession(await sessions.takeSession(), 'idle');
    const closed = sessions.close();
    await turn();
    expect([records().length, removed().length]).to.deep.equal([2, 0]);
    gate.open();
    await closed;
    expect(removed()).to.have.length(1);
  });

  it('are killed at the close at the latest', async () => {
    refused = ({ killSessions }) => killSessions !== undefined;
    sessions.returnSession(await sessions.takeSession(), 'broken');
    await turn();
    refused = () => false;
    await sessions.close();
    expect(kills()).to.deep.equal([[{ id: 1 }], [{ id: 1 }]]);
    expect(removed()).to.have.length(1);
  });

  it('write nothing if none was used', async () => {
    await sessions.close();
    expect(sent).to.deep.equal([]);
  });
});
