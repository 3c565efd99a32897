// What commands that change something print, and what the audit log has of them: a change of either shows in the diff of
// `RECORD=1 npx mocha test/cli/recorded.test.ts`. What commands that only read print is recorded with the management API.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { expectRecorded, maskVarying } from '../../testkit/recorded.ts';
import { AT } from '../contract/store/context.ts';
import { makeUser } from '../contract/store/people.ts';
import { NEW_API } from '../moving/new-api.ts';
import { createRig, type Rig } from './command.ts';

/** `A1` is the account that was created first, `K1` the first key, `H1` the first hold, `M1` the first management key. */
const COMMANDS = `
account create --name first
account create --name second
account create --name second
account list
account show first
account show second
account show third
account limit A1
account limit A1 --per-minute 300 --at-once 20 --wait 10 --addresses 192.0.2.7,10.0.0.0/8
account limit A1 --wait none --per-minute none
account limit A1 --at-once none --addresses none
account price-list A1 none
account price-list A1 vip
account price-list A1 gold
account price-list A1 none --json
wallet topup A1 99 --payment-id inv-0
wallet topup A1 1500 --payment-id inv-1
wallet topup A1 1500 --payment-id inv-1
wallet topup A2 1500 --payment-id inv-1
wallet topup acc_none 1500 --payment-id inv-2
wallet topup A1 1500 --payment-id inv-1 --json
wallet adjust A1 -12.5 --reason mistake
wallet adjust A1 2.5 --reason mistake --adjust-id adj-1
wallet adjust A1 2.5 --reason mistake --adjust-id adj-1
wallet adjust A1 3.5 --reason mistake --adjust-id adj-1
wallet adjust A1 2.5 --reason mistake --adjust-id adj-1 --json
wallet adjust A1 -9999 --reason mistake
wallet play-money A1 --reason trial
wallet play-money A1 --convert --reason trial
wallet show first
grant give A2 300 --id trial-1 --reason trial --opens-wallet
grant give A2 300 --id trial-1 --reason trial --opens-wallet
grant give A2 300 --id trial-1 --reason trial
grant give A2 50 --id trial-2 --reason trial --expires 2099-01-31
grant give A2 50 --id trial-3 --reason trial --expires 2020-01-31
grant give A2 50 --id promo:x --reason trial
grant give A2 50 --id .. --reason trial
grant give acc_none 50 --id trial-4 --reason trial
grant give A2 300 --id trial-1 --reason trial --opens-wallet --json
grant monthly A2 500
grant monthly A2 700 --reason staff
grant monthly A2 none
grant monthly A2 none --json
grant list A2
grant list A1
grant revoke A2 trial-2 --reason mistake
grant revoke A2 trial-2 --reason mistake
grant revoke A2 trial-9 --reason mistake
grant revoke A2 trial-2 --reason mistake --json
promo create 300 --code SPRING --uses 2 --reason trial --days 30 --until 2099-01-01 --opens-wallet
promo create 200.5 --code AUTUMN --uses 1 --reason trial
promo create 300 --code SPRING --uses 2 --reason trial
promo create 300 --code a! --uses 2 --reason trial
promo create 300 --code WINTER --uses 2 --reason trial --until 2020-01-01
promo end AUTUMN
promo end AUTUMN
promo end NONE
promo end AUTUMN --json
promo list
key issue A1 --name plain
key issue A1 --name shop --budget 12.5 --reset week --expires 2099-01-01 --models a,b --user-budget 2 --user-reset day --at-once 3
key issue A1 --name wrong --reset week
key issue A1 --name wrong --user-reset week
key limit K2 --models all --expires never --user-budget none
key limit K2 --user-budget 5
key limit K2 --user-budget none
key limit K2 --budget none --at-once none
key limit K1
key limit K2 --budget 3 --user-budget 1 --per-minute 9 --json
key users K1
key rotate K1 --hours 48
key revoke K1
key revoke K1
key revoke key_none
key revoke K1 --json
key list A1
key list A2
hold create A1 120 --reason gpu-render --lease 3600
hold create A1 20 --reason gpu-render --key K3 --user ann
hold create A1 99999 --reason gpu-render
hold show H1
hold renew H1 --lease 60
hold settle H1 97.50 --usage seconds=840
hold settle H1 97.50 --usage seconds=840
hold settle H1 90
hold settle H1 97.50 --usage seconds=840 --json
hold renew H1
hold release H2
hold release H2
hold settle H2 1
hold release H2 --json
hold show hold_none
charge list A1
charge list A1 --state settled --limit 1
charge list A1 --from 2026-01-02 --to 2026-01-01
charge show none
usage A1
usage A1 --by kind
ledger list A1
ledger list A1 --limit 2
ledger verify
ledger verify --json
member invite A1 bob@example.com --cap 99.50 --reset week
member invite A1 bob@example.com --role owner --cap 5
member invite A1 owner@example.com
member set A1 member@example.com
member set A1 member@example.com --cap 50
member set A1 member@example.com --cap 50 --json
member set A1 member@example.com --reset none
member set A1 member@example.com --cap none
member set A1 member@example.com --reset day
member set A1 member@example.com --role accountant
member set A1 owner@example.com --role member
member set A1 boss@example.com --role member
member set A1 nobody@example.com --role member
member list A1
member list A2
member remove A1 owner@example.com
member remove A1 boss@example.com
member remove A1 member@example.com
user invite A1 member@example.com
user invite A1 stopped@example.com
user invite A1 bob
user list
user suspend owner@example.com
user resume owner@example.com
user resume owner@example.com --json
user suspend boss@example.com
user reset owner@example.com
user reset boss@example.com
user reset stopped@example.com
user reset guest@example.com
user sessions list owner@example.com
user sessions end owner@example.com
user sessions end owner@example.com --json
user remove-owner A1 boss@example.com
user remove-owner A1 owner@example.com
user remove owner@example.com
user remove owner@example.com
operator create boss@example.com
operator create new@example.com
operator reset owner@example.com
management-key create --name billing --scopes accounts,topup --expires 2099-01-01 --addresses 192.0.2.7
management-key create --name own --account A1
management-key create --name wrong --scopes all
management-key revoke mk_none
management-key list
management-key revoke M1
management-key revoke M1
management-key revoke M1 --json
management-key list --json
secrets forget 1a2b3c4d
account suspend A1
account suspend A1
account resume A1
account resume A1 --json
import new-api FILE --rate 81.4 --dry-run
import new-api FILE --rate 81.4 --invite
import new-api FILE --rate 81.4
import new-api FILE --rate 90
import new-api FILE --rate 90 --json
`;

describe('recorded texts of commands', function () {
  this.timeout(180_000);
  let rig: Rig;
  let file: string;

  before(async () => {
    rig = await createRig();
    rig.env.CATALOG_DIR = join(rig.folder, 'catalog');
    mkdirSync(rig.env.CATALOG_DIR);
    writeFileSync(join(rig.env.CATALOG_DIR, 'own.json'), '{"priceLists":{"gold":{"factor":"0.9"}}}');
    file = join(rig.folder, 'new-api.db');
    const db = new DatabaseSync(file);
    db.exec(NEW_API);
    db.close();
  });
  after(() => rig.close());

  it('that change something are unchanged', async () => {
    const ids = new Map([['FILE', file]]);
    const note = (letter: string, found: RegExpExecArray | null) => {
      const number = [...ids.keys()].filter((name) => name.startsWith(letter)).length + 1;
      if (found) ids.set(`${letter}${number}`, found[0]);
    };
    const texts: string[] = [];
    for (const line of COMMANDS.trim().split('\n')) {
      const words = line.split(' ').map((word) => ids.get(word) ?? word);
      const { code, stdout, stderr } = await rig.run(...words);
      if (line.startsWith('account create')) note('A', /acc_\w+/.exec(stdout));
      if (/^key (issue|rotate)/.test(line)) note('K', /key_\w+/.exec(stdout));
      if (line.startsWith('hold create')) note('H', /hold_\w+/.exec(stdout));
      if (line.startsWith('management-key create')) note('M', /mk_\w+/.exec(stdout));
      if (line === 'account list') await addPeople(ids.get('A1') ?? '');
      texts.push(`===== ${line}: ${code}\n${mask(stdout + stderr)}`);
    }
    expect(texts.length).to.be.above(100);
    expectRecorded(new URL('recorded-texts.txt', import.meta.url), [
      ...texts,
      `===== audit log\n${mask(await readLog())}`,
    ]);
  });

  function mask(text: string): string {
    const masked = maskVarying(
      text
        .replace(/Store: .*\n/, '')
        .replace(/,"store":"[^"]*"/, '')
        .replace(/"last4":"\w+"/g, '"last4":"END"')
        .replaceAll(rig.folder, 'FOLDER'),
    );
    return masked
      .replace(/\btg-\w\w-\w{20,}/g, 'KEY')
      .replace(/ +/g, ' ')
      .replace(/\n\n+/g, '\n')
      .trimEnd();
  }

  async function addPeople(account: string): Promise<void> {
    const store = await openStore(rig.databaseUrl);
    const add = async (at: number, name: string, fields: object = {}) => {
      const user = makeUser({ email: `${name}@example.com`, createdAt: AT + at, ...fields });
      await store.users.add(user);
      return user.id;
    };
    await store.users.join({ user: await add(1, 'owner'), account, role: 'owner' });
    await store.users.join({ user: await add(2, 'member', { totpSecret: null }), account, role: 'member' });
    await add(3, 'boss', { operator: true });
    await add(4, 'stopped', { status: 'suspended' });
    await add(5, 'guest', { password: null });
    await store.close();
  }

  /** Oldest first. */
  async function readLog(): Promise<string> {
    const store = await openStore(rig.databaseUrl);
    const lines = await store.auditLog.page({ limit: 500 });
    await store.close();
    const words = lines.toReversed().map((line) => [line.action, line.account ?? '-', line.target, line.detail]);
    return words.map((each) => each.join(' ')).join('\n');
  }
});
