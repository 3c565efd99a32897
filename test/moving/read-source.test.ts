// Stores that one-api and one-hub themselves have made, through their own APIs, on three databases; and one of new-api by
// its published schema.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { formatDecimal } from '../../lib/moving/amounts.ts';
import { readSource } from '../../lib/moving/read-source.ts';
import type { Program } from '../../lib/moving/source.ts';
import { expectRecorded } from '../../testkit/recorded.ts';
import { NEW_API, OLD_KEYS } from './new-api.ts';

const RATE = 80_000_000n;
const file = (name: string) => fileURLToPath(new URL(`./stores/${name}`, import.meta.url));

describe('the store of another gateway', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-moving-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  function makeDatabase(sql: string): string {
    const path = join(folder, `${Math.random()}.db`);
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
    return path;
  }

  const read = (program: Program, path: string) => readSource(path, { program, rate: RATE });

  const refusal = (program: Program, path: string) =>
    read(program, path).then(
      () => 'read',
      (error: Error) => error.message,
    );

  async function describeStore(program: Program, path: string) {
    const { users, keys, channels, groups, leftOut } = await read(program, path);
    const alice = keys.filter(({ user }) => user === '2').sort((one, other) => one.name.localeCompare(other.name));
    return {
      users: [...users]
        .sort((one, other) => Number(one.id) - Number(other.id))
        .map(({ id, name, email, quota, isActive, group }) => [id, name, email, quota, isActive, group]),
      keys: alice.map(({ name, isActive, budget, models, addresses, expiresAt }) => ({
        ...{ name, isActive, budget, models, addresses, expires: expiresAt !== null },
      })),
      secrets: new Set(keys.map(({ secret }) => secret.length)),
      channels: channels.map(({ type, name, keys: secrets, baseUrl, models, isActive, priority }) => [
        ...[type, name, ...secrets, baseUrl, models.length, isActive, priority],
      ]),
      mapping: Object.fromEntries(channels.find(({ name }) => name === 'main')?.mapping ?? []),
      vip: formatDecimal(groups.get('vip') ?? { units: 0n, scale: 0 }),
      leftOut: leftOut.map(({ what, count }) => `${count} ${what}`),
    };
  }

  const USERS = [
    ['1', 'Root User', '', 100_000_000n, true, 'default'],
    ['2', "Alice O'Hara", 'alice@example.com', 5_123_457n, true, 'vip'],
    ['3', 'Боб', 'bob@example.com', 1n, true, 'default'],
    ['4', 'Carol\\n"x"', '', -250_000n, true, 'default'],
    ['5', 'Dave', '', 777n, false, 'default'],
  ];
  const free = { budget: null, models: null, addresses: null, expires: false, isActive: true };
  const keys = (...addresses: readonly string[]) => [
    { ...free, name: 'empty', budget: 0n },
    {
      name: 'limited',
      isActive: true,
      budget: 1_000_000n,
      models: ['gpt-4o', 'gpt-4o-mini'],
      addresses,
      expires: true,
    },
    { ...free, name: 'off', budget: 10n, isActive: false },
    { ...free, name: 'open' },
  ];
  const channels = (aws: string, ...more: readonly string[]) => [
    ['1', 'main', 'sk-up-1', 'http://127.0.0.1:4010', 6, true, 10n],
    ['14', 'claude', 'sk-ant-1', '', 1, true, 0n],
    [aws, 'aws', 'a|b|c', '', 1, true, 0n],
    ['1', 'spare', 'sk-up-2', 'http://127.0.0.1:4011', 1, true, 1n],
    ['1', 'off', ...(more.length > 0 ? more : ['sk-up-3']), '', 1, false, 0n],
  ];

  for (const name of ['sqlite', 'sqlite.sql', 'postgresql.sql']) {
    it(`of one-api is read from ${name}`, async () => {
      const dump = file(name === 'sqlite' ? 'one-api.sqlite.sql' : `one-api.${name}`);
      const path = name === 'sqlite' ? makeDatabase(readFileSync(dump, 'utf8')) : dump;
      const found = await describeStore('one-api', path);
      expect(found.users).to.deep.equal(USERS);
      expect(found.keys).to.deep.equal([{ ...free, name: 'default' }, ...keys('127.0.0.0/8', '10.1.2.3/32')]);
      expect([...found.secrets]).to.deep.equal([48]);
      expect(found.channels).to.deep.equal(channels('33'));
      expect(found.mapping).to.deep.equal({ 'gpt-4o': 'gpt-4o-2024-11-20' });
      expect(found.vip).to.equal('0.9');
      expect(found.leftOut).to.include.members([
        '1 deleted users',
        '1 deleted keys',
        '2 redemption codes',
        '6 passwords',
      ]);
    });
  }

  it('of one-hub is read from mysql.sql', async () => {
    const found = await describeStore('one-hub', file('one-hub.mysql.sql'));
    expect(found.users).to.deep.equal(USERS);
    expect(found.keys).to.deep.equal(keys('127.0.0.0/8', '10.1.2.3'));
    expect([...found.secrets]).to.deep.equal([59]);
    expect(found.channels).to.deep.equal(channels('32'));
    expect(found.vip).to.equal('0.9');
    expect(found.leftOut).to.include.members(['1 deleted users', '1 deleted keys', '2 redemption codes']);
    const { findPrice } = await read('one-hub', file('one-hub.mysql.sql'));
    const price = findPrice('gpt-4o', '1');
    expect(price?.per === 'token' && price.output && formatDecimal(price.output)).to.equal('7.5');
  });

  it('of new-api is read from sqlite', async () => {
    const source = await read('new-api', makeDatabase(NEW_API));
    expect(source.users.map(({ id, quota, isActive }) => [id, quota, isActive])).to.deep.equal([
      ['1', 600_000n, true],
      ['2', 3n, false],
    ]);
    expect(source.keys.map(({ id, budget, models, addresses }) => [id, budget, models, addresses])).to.deep.equal([
      ['1', null, null, null],
      ['2', 250_000n, ['gpt-4o', 'deepseek-chat'], ['10.0.0.0/8', '1.2.3.4']],
    ]);
    expect(source.channels[0]?.keys).to.deep.equal(['sk-one', 'sk-two']);
    const json = await read(
      'new-api',
      makeDatabase(NEW_API.replace('sk-one\nsk-two', ' {"a":\n1}').replace('{"gpt-4o":"up-4o"}', 'null')),
    );
    expect(json.channels[0]?.keys).to.deep.equal(['{"a":\n1}']);
    expect(json.channels[0]?.mapping.size).to.equal(0);
    const leftOut = source.leftOut.map(({ what, count }) => `${count} ${what}`);
    expect(leftOut).to.include.members(['1 second factors', '1 groups of keys', '1 channels with further settings']);
  });

  it('of each program has what it always had, in full', async () => {
    const texts: string[] = [];
    for (const [program, path] of [
      ['one-api', file('one-api.sqlite.sql')],
      ['one-api', file('one-api.postgresql.sql')],
      ['one-hub', file('one-hub.mysql.sql')],
      ['new-api', makeDatabase(NEW_API)],
    ] as const) {
      const { findPrice, ...source } = await read(program, path);
      const models = source.channels.flatMap(({ type, models: served }) =>
        served.map((model) => [model, type] as const),
      );
      const prices = models.map(([model, type]) => [model, type, findPrice(model, type)]);
      const show = (_: string, value: unknown) =>
        value instanceof Map ? [...value] : typeof value === 'bigint' ? `${value}n` : value;
      const lines = Object.entries({ ...source, prices }).flatMap(([name, value]) =>
        [value].flat().map((each) => `${name}: ${JSON.stringify(each, show)}`),
      );
      texts.push([`===== ${program}`, ...lines].join('\n'));
    }
    expectRecorded(new URL('recorded-sources.txt', import.meta.url), texts);
  });

  it('knows administrators by their role, and budgets by what is left of them', async () => {
    const users = async (role: string) => {
      const sql = NEW_API.replace("'Ann',1,1", `'Ann',${role},1`);
      return (await read('new-api', makeDatabase(sql))).users[0]?.isAdministrator;
    };
    expect([await users('1'), await users('9'), await users('10'), await users('100')]).to.deep.equal([
      ...[false, false, true, true],
    ]);
    const key = async (status: number, left: number, unlimited = 0) => {
      const sql = NEW_API.replace(`${OLD_KEYS[1]}',1,`, `${OLD_KEYS[1]}',${status},`).replace(
        '-1,250000,0,1',
        `-1,${left},${unlimited},1`,
      );
      const found = (await read('new-api', makeDatabase(sql))).keys[1];
      return [found?.budget, found?.isActive];
    };
    expect(await key(1, 1)).to.deep.equal([1n, true]);
    for (const left of [0, -5]) expect(await key(1, left), `${left}`).to.deep.equal([0n, true]);
    // Used up: over although more is left, or nothing limits it.
    expect([await key(4, 7), await key(4, 7, 1)]).to.deep.equal([
      [0n, true],
      [0n, true],
    ]);
    expect([await key(1, 7, 1), await key(2, 7)]).to.deep.equal([
      [null, true],
      [7n, false],
    ]);
  });

  it('counts people who sign in by another service, once each', async () => {
    const count = async (...ids: readonly string[]) => {
      const sql = NEW_API.replace("'ann@example.com',''", `'ann@example.com','${ids[0]}'`).replace(
        "2,'',''",
        `2,'','${ids[1]}'`,
      );
      const { leftOut } = await read('new-api', makeDatabase(sql));
      return leftOut.find(({ what }) => what === 'sign-ins by other services')?.count;
    };
    expect([await count('', '0'), await count('x', ''), await count('10', 'y')]).to.deep.equal([undefined, 1, 2]);
  });

  it('is refused for a ratio that is no number, naming it and the file', async () => {
    for (const [ratio, shown] of [
      ['-1', '"-1"'],
      ['"a"', '"a"'],
      ['null', '"null"'],
    ] as const) {
      const path = makeDatabase(NEW_API.replace('"free":0', `"free":${ratio}`));
      expect(await refusal('new-api', path)).to.equal(`${path}: the group free: its ratio is not a number: ${shown}`);
      const priced = makeDatabase(NEW_API.replace('"deepseek-reasoner":0}', `"deepseek-reasoner":${ratio}}`));
      expect(await refusal('new-api', priced)).to.equal(
        `${priced}: the option ModelRatio: deepseek-reasoner: not a number of zero or more: ${shown}`,
      );
    }
    const bare = makeDatabase(NEW_API.replaceAll('options', 'choices'));
    expect(await refusal('new-api', bare)).to.include('it has no table options');
    const narrow = NEW_API.replace(/(`options` \(`key` text),`value` text/, '$1').replace(/INSERT INTO options.*/g, '');
    expect(await refusal('new-api', makeDatabase(narrow))).to.include('the table options lacks value');
  });

  it('says when keys expire: never, at a time, or long ago', async () => {
    const at = async (seconds: string) => {
      const sql = NEW_API.replace("'first',1700000000,0,-1", `'first',1700000000,0,${seconds}`);
      return (await read('new-api', makeDatabase(sql))).keys[0]?.expiresAt;
    };
    expect(await at('-1')).to.equal(null);
    expect(await at('1800000000')).to.equal(1_800_000_000_000);
    for (const over of ['0', '-2', 'NULL']) expect(await at(over), over).to.equal(1);
    expect(await at('999999999999999'), 'beyond all dates').to.equal(null);
  });

  it('keeps a limit that allows nothing, of models but not of addresses', async () => {
    const limitsOf = async (program: Program, path: string, id: string) => {
      const key = (await read(program, path)).keys.find((each) => each.id === id);
      return [key?.models, key?.addresses];
    };
    for (const models of ['', ' , ']) {
      const sql = NEW_API.replace("0,1,'gpt-4o,deepseek-chat','10.0.0.0/8\n1.2.3.4'", `0,1,'${models}','\n'`);
      expect(await limitsOf('new-api', makeDatabase(sql), '2'), JSON.stringify(models)).to.deep.equal([[], null]);
    }
    const setting = '\\"enabled\\":true,\\"models\\":[\\"gpt-4o\\",\\"gpt-4o-mini\\"]';
    const dump = readFileSync(file('one-hub.mysql.sql'), 'utf8');
    for (const models of ['[]', 'null']) {
      const changed = dump.replace(setting, `\\"enabled\\":true,\\"models\\":${models}`);
      expect(changed).not.to.equal(dump);
      const path = join(folder, 'changed.sql');
      writeFileSync(path, changed);
      expect((await limitsOf('one-hub', path, '2'))[0], models).to.deep.equal([]);
    }
  });

  const without = (column: string) => NEW_API.replaceAll(new RegExp(`,\`${column}\` [a-z]+( DEFAULT -1)?`, 'g'), '');

  it('is said to have texts that are not UTF-8', async () => {
    const dump = readFileSync(file('one-api.sqlite.sql'));
    const path = join(folder, 'cp1251.sql');
    const found = async (bytes: Buffer) => {
      writeFileSync(path, bytes);
      return (await read('one-api', path)).leftOut.find(({ what }) => what === 'texts that are not UTF-8')?.count;
    };
    expect(await found(dump)).to.equal(undefined);
    const at = dump.indexOf("'Root User'");
    expect(at).to.be.above(0);
    dump.set([0xc0, 0xed, 0xed, 0xe0], at + 1);
    expect(await found(dump)).to.equal(1);
  });

  it('is refused if it is that of another program', async () => {
    expect(await refusal('one-api', makeDatabase(NEW_API))).to.include('looks like a store of new-api');
    expect(await refusal('new-api', file('one-api.sqlite.sql'))).to.include('import one-api');
    expect(await refusal('one-api', file('one-hub.mysql.sql'))).to.include('import one-hub');
    expect(await refusal('one-api', makeDatabase('CREATE TABLE a (b)'))).to.include('it has no table users');
  });

  it('is refused if it is older than can be read, or damaged', async () => {
    const old = makeDatabase(without('expired_time').replace(/INSERT INTO tokens[^;]*;/g, ''));
    expect(await refusal('new-api', old)).to.include('the table tokens lacks expired_time: update new-api');
    const wrong = makeDatabase(NEW_API.replace('600000', "'12.5'"));
    expect(await refusal('new-api', wrong)).to.include('the user 1: quota is not a whole number: "12.5"');
    for (const id of ["'0'", "'x'", "'1.5'"]) {
      const unnamed = makeDatabase(
        NEW_API.replace('INSERT INTO channels VALUES (7', `INSERT INTO channels VALUES (${id}`).replace(
          'channels` (`id` integer',
          'channels` (`id` text',
        ),
      );
      expect(await refusal('new-api', unnamed)).to.include(`a channel: id is not an id: ${id.replaceAll("'", '"')}`);
    }
    const list = makeDatabase(NEW_API.replace('{"gpt-4o":"up-4o"}', '["up-4o"]'));
    expect(await refusal('new-api', list)).to.include('the channel 7: model_mapping is not a JSON object');
    const path = makeDatabase(NEW_API);
    writeFileSync(path, readFileSync(path).fill(0xff, 100, 4000));
    expect(await refusal('new-api', path)).to.include('the SQLite database cannot be read');
    writeFileSync(path, Buffer.from([80, 75, 3, 4, 0, 0, 1]));
    expect(await refusal('new-api', path)).to.include('unpack it first');
    expect(await refusal('new-api', join(folder, 'none'))).to.include('cannot be read (ENOENT)');
    expect(await refusal('new-api', folder)).to.include('cannot be read (EISDIR)');
  });
});
