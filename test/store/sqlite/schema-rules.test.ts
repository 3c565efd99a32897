// What the tables refuse besides the money of wallets: each rule by itself, with the smallest change that breaks it.
import type { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { changeChecks } from '../../../lib/store/sqlite/checks.ts';
import { useFolder } from './folder.ts';

/** One row that is right, or two, of every table that has rules. */
const ROWS: Readonly<Record<string, readonly Readonly<Record<string, string | number | null>>[]>> = {
  accounts: [{ id: 'w', name: 'n', created_at: 1 }],
  keys: [{ id: 'k', account: 'w', name: 'n', hash: 'h', last4: 'l', created_at: 1, reset: 'day', zone: 'UTC' }],
  charges: [
    {
      id: 'c',
      wallet: 'w',
      key: 'k',
      kind: 'text',
      state: 'settled',
      reserved: 5,
      charged: 5,
      model: 'm',
      prices: '{}',
      created_at: 1,
      ended_at: 2,
    },
  ],
  jobs: [
    {
      id: 'run',
      wallet: 'w',
      charge: 'c',
      model: 'm',
      upstream: 'u',
      phase: 'running',
      shown: 'queued',
      progress: 5,
      facts: '{}',
      due_at: 9,
      deadline: 99,
      created_at: 1,
      version: 2,
    },
    {
      id: 'end',
      wallet: 'w',
      charge: 'c',
      model: 'm',
      upstream: 'u',
      phase: 'completed',
      shown: 'queued',
      progress: 100,
      facts: '{}',
      result: '{}',
      deadline: 99,
      created_at: 1,
      ended_at: 5,
      version: 3,
    },
  ],
  payments: [
    {
      id: 'paid',
      wallet: 'w',
      provider: 'till',
      phase: 'credited',
      amount: 9,
      shop: 's',
      test: 0,
      origin: 'auto',
      facts: '{}',
      ref: 'r',
      credited: 9,
      refunded: 0,
      shortfall: 0,
      refunds: '[]',
      created_at: 1,
      changed_at: 1,
      version: 1,
    },
    {
      id: 'new',
      wallet: 'w',
      provider: 'till',
      phase: 'created',
      amount: 9,
      shop: 's',
      test: 0,
      origin: 'auto',
      facts: '{}',
      credited: 0,
      refunded: 0,
      shortfall: 0,
      refunds: '[]',
      owner: 'o',
      lease: 9,
      due_at: 9,
      created_at: 1,
      changed_at: 1,
      version: 1,
    },
  ],
  saved_methods: ['one', 'two'].map((ref) => ({
    id: ref,
    wallet: 'w',
    provider: 'till',
    ref,
    kind: 'card',
    created_at: 1,
  })),
  auto_topups: [
    {
      id: 'w',
      enabled: 1,
      threshold: 1,
      amount: 1,
      cap: 1,
      method: 'one',
      next_at: 1,
      declines: 0,
      day: 'd',
      day_count: 0,
      month: 'm',
      month_sum: 0,
      version: 1,
    },
  ],
  media: [{ id: 'm', account: 'w', kind: 'image', media_type: 'image/png', bytes: 1, created_at: 1, expires_at: 2 }],
  owners: [{ id: 'o', until: 1, lease_ms: 1, alone: 0 }],
  batches: [{ writer: 'w', number: 1, at: 1 }],
  usage_cursors: [{ wallet: 'w', seq: 1 }],
  checkpoints: [{ wallet: 'w', seq: 1, avail: 0, held: 0, charged: 0, topped: 0, adjusted: 0, overshoot: 0 }],
  openings: [
    {
      wallet: 'w',
      seq: 1,
      avail: 5,
      held: 0,
      charged: 0,
      topped: 5,
      adjusted: 0,
      overshoot: 0,
      lasting: 0,
      budgets: '[]',
    },
  ],
  archives: ['one', 'two'].map((id, at) => ({
    id,
    file: id,
    before: 1,
    state: at === 0 ? 'leaving' : 'done',
    started_at: 1,
    sha256: 's',
    calls: 1,
    entries: 1,
    charged: 1,
  })),
  users: ['one', 'two'].map((id) => ({
    id,
    email: id,
    totp_step: 0,
    recovery: '[]',
    operator: 0,
    status: 'active',
    language: 'en',
    time_zone: 'UTC',
    created_at: 1,
    version: 1,
  })),
  memberships: [{ user: 'one', account: 'w', role: 'owner' }],
  sessions: [
    { hash: 'h', user: 'one', created_at: 1, seen_at: 1, expires_at: 9, idle_ms: 1, address: 'a', agent: 'b' },
  ],
  attempts: [{ name: 'n', count: 1, last_at: 1 }],
  audit_log: [{ at: 1, user: 'one', action: 'a', target: 't', detail: 'd', address: 'a' }],
  alerts: [{ account: 'w', budgets: 1, webhook_url: 'https://a', webhook_secret: 's', version: 1 }],
  alarms: [{ account: 'w', subject: 's', state: 'on', version: 1 }],
  repeats: [{ id: 'r', wallet: 'w', charge: 'c', body: 'b', awaited: 1, expires_at: 9 }],
};

/** By table: what a change sets, and in which row if there are two. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  accounts: ['auto_topup_enabled = 2', 'auto_topup_amount = -1', 'auto_topup_threshold = -1'],
  keys: ['budget = 0', "reset = 'year'", 'requests_count = -1'],
  charges: ["budget_key = 'other'", 'charged = -1', "kind = 'audio'"],
  jobs: [
    ...["phase = 'lost'", "shown = 'done'", 'progress = 101', 'progress = -1', 'due_at = 0', 'version = 0'],
    ...["owner = 'o' WHERE id = 'run'", "lease = 9 WHERE id = 'run'", "ended_at = 5, due_at = NULL WHERE id = 'run'"],
    ...["due_at = NULL WHERE id = 'run'", "owner = 'o', lease = 9 WHERE id = 'end'", "result = '{}' WHERE id = 'run'"],
    "error = 'no' WHERE id = 'run'",
  ],
  payments: [
    ...["phase = 'lost'", 'amount = 0', 'test = 2', "origin = 'gift'", 'due_at = 0', 'version = 0'],
    ...["refunded = 10 WHERE id = 'paid'", "shortfall = 1 WHERE id = 'paid'", "owner = 'o' WHERE id = 'paid'"],
    ...["phase = 'pending' WHERE id = 'paid'", "ref = NULL WHERE id = 'paid'", "due_at = NULL WHERE id = 'new'"],
    ...["phase = 'succeeded', due_at = NULL WHERE id = 'new'", "credited = 5, ref = 'q' WHERE id = 'new'"],
    "ref = 'r' WHERE id = 'new'",
  ],
  saved_methods: ["ref = 'one'"],
  auto_topups: [
    ...['enabled = 2', 'threshold = -1', 'amount = -1', 'cap = -1', 'declines = -1', 'day_count = -1'],
    ...['month_sum = -1', 'version = 0', 'method = NULL'],
  ],
  media: ["kind = 'sound'", 'bytes = -1'],
  owners: ['lease_ms = 0', 'alone = 2'],
  batches: ['number = 0'],
  usage_cursors: ['seq = 0'],
  checkpoints: ['seq = 0'],
  openings: [
    ...['seq = 0', 'avail = 6', 'held = -1, avail = 6', 'charged = -1, avail = 6', 'overshoot = -1', 'lasting = -1'],
    'topped = -1, adjusted = 6',
  ],
  archives: ["state = 'lost'", "sha256 = NULL WHERE id = 'one'", 'calls = -1', 'entries = -1', "state = 'leaving'"],
  users: ["email = 'one'", 'operator = 2', "status = 'gone'", "language = 'fr'", 'version = 0', "telegram = 'x'"],
  memberships: ["role = 'reader'"],
  sessions: ['idle_ms = 0'],
  attempts: ['count = 0'],
  audit_log: ['at = 2', "detail = 'other'"],
  alerts: ['balance_below = 0', 'budgets = 2', 'webhook_url = NULL', 'webhook_secret = NULL', 'version = 0'],
  alarms: ['version = 0'],
  repeats: ['awaited = 2'],
};

describe('rules of the tables', () => {
  const folder = useFolder();
  let path = '';
  let db: DatabaseSync;

  before(async () => {
    path = folder.file();
    await (await folder.open(path)).close();
    const raw = folder.raw(path);
    for (const [table, rows] of Object.entries(ROWS)) {
      for (const row of rows) {
        const names = Object.keys(row);
        const places = names.map(() => '?').join(', ');
        raw.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(...Object.values(row));
      }
    }
  });
  beforeEach(() => {
    db = folder.raw(path);
  });

  for (const [table, changes] of Object.entries(REFUSED)) {
    for (const change of changes) {
      it(`keep ${table} from ${change}`, () => {
        expect(() => db.exec(`UPDATE ${table} SET ${change}`)).to.throw(/CHECK|UNIQUE|append-only/);
      });
    }
  }

  it('keep the audit log append-only', () => {
    expect(() => db.exec('DELETE FROM audit_log')).to.throw('the audit log is append-only');
  });

  it('allow the same provider id for payments of different providers', () => {
    const change = "UPDATE payments SET provider = 'other', ref = 'r' WHERE id = 'new'";
    expect(() => db.exec(change)).to.not.throw();
  });

  it('hold in a changed form for connections that are open already', () => {
    const path = folder.file();
    const [first, second] = [folder.raw(path), folder.raw(path)];
    first.exec("CREATE TABLE t (grain TEXT CHECK (grain = 'day')); INSERT INTO t VALUES ('day')");
    const add = () => second.exec("INSERT INTO t VALUES ('week')");
    expect(add).to.throw('CHECK');
    changeChecks(first, 't', [["grain = 'day'", "grain = 'day' OR grain = 'week'"]]);
    expect(add).to.not.throw();
  });
});
