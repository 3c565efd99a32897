// The command line as a whole: help, usage errors, bad environments, and pipes that close early.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { createProgram } from '../../lib/cli/program.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { expectRecorded } from '../../testkit/recorded.ts';
import { createRig, expectRefusal, MAIN, type Rig, runCommand, spawnCommand } from './command.ts';

const COMMANDS = [
  'account create',
  'account list',
  'account show',
  'account suspend',
  'account resume',
  'key issue',
  'key limit',
  'key list',
  'key revoke',
  'wallet topup',
  'wallet adjust',
  'wallet show',
  'charge show',
  'charge list',
  'ledger list',
  'ledger verify',
  'catalog check',
  'smart explain',
  'store backup',
];

describe('cli', () => {
  let rig: Rig;

  before(async () => {
    rig = await createRig();
  });

  after(() => rig.close());

  it('prints help with exit codes and commands', async () => {
    const main = await rig.text('--help');
    for (const part of ['--json', 'DATABASE_URL', 'Exit codes']) expect(main).to.include(part);
    const groups = Map.groupBy(COMMANDS, (command) => command.split(' ')[0]!);
    for (const [group, commands] of groups) {
      expect(main).to.match(new RegExp(`^  ${group} `, 'm'));
      const help = await rig.text(group, '--help');
      for (const command of commands) expect(help).to.match(new RegExp(`^  ${command.split(' ')[1]} `, 'm'));
    }
  });

  it('helps with each command as is recorded', () => {
    const texts: string[] = [];
    const read = (command: Command) => {
      let help = '';
      command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 120 }).outputHelp();
      texts.push(`===== ${help.trim().replaceAll('\n\n', '\n')}`);
      command.commands.forEach(read);
    };
    read(createProgram());
    expectRecorded(new URL('help.txt', import.meta.url), texts);
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(await rig.text('--version')).to.equal(`${version}\n`);
  });

  itLong('prints its version as a process, from any folder', async () => {
    const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    const told = await spawnCommand(['--version'], rig.env, { cwd: rig.folder });
    expect(told).to.deep.equal({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  for (const command of [...COMMANDS, 'usage', 'serve']) {
    it(`shows an example of ${command}`, async () => {
      expect(await rig.text(...command.split(' '), '--help')).to.include(`Example:\n  tollgate ${command}`);
    });
  }

  it('reports a wrong command line in one line, with exit code 2', async () => {
    const wrong: [line: RegExp, ...args: string[]][] = [
      [/which command\?/],
      [/which command\? "tollgate account --help"/, 'account'],
      [/^tollgate: unknown command 'walet' \(Did you mean wallet\?\)/, 'walet', 'show'],
      [/unknown command 'creat' \(Did you mean create\?\)/, 'account', 'creat'],
      [/unknown command 'use'\. "tollgate promo --help" lists the commands\.\n$/, 'promo', 'use', 'SPRING'],
      [/unknown command 'zzz'\. "tollgate --help" lists the commands\.\n$/, 'zzz'],
      [/unknown option '--jsn'/, '--jsn', 'account', 'list'],
      [/'--name <name>' not specified\. Type: tollgate account create --name <name>\n$/, 'account', 'create'],
      [
        /not specified\. Type: tollgate key issue <id> --name <name> \[options\]\n$/,
        '--json',
        'key',
        'issue',
        'production',
      ],
      [/got 2: a, 500\. Type: tollgate key limit <key-id> \[options\]\n$/, 'key', 'limit', 'a', '500'],
      [/argument missing/, 'account', 'create', '--name'],
      [/missing required argument 'account'/, 'wallet', 'show'],
      [/too many arguments/, 'wallet', 'show', 'a', 'b'],
      [/'--payment-id <id>' not specified/, 'wallet', 'topup', 'a', '1000'],
      [/whole number/, 'ledger', 'list', 'a', '--limit', '0'],
      [/whole number/, 'ledger', 'list', 'a', '--before', '-3'],
    ];
    for (const [line, ...args] of wrong) expect(await rig.refused(2, ...args)).to.match(line);
  });

  it('reports a bad environment in one line', async () => {
    expectRefusal(await runCommand(['account', 'list'], { ...rig.env, PORT: 'high' }), 1);
    expectRefusal(await runCommand(['account', 'list'], { ...rig.env, DATABASE_URL: 'postgres://127.0.0.1/x' }), 1);
  });

  it('reports a store that cannot be opened in one line', async () => {
    const notOurs = join(rig.folder, 'notes.txt');
    await writeFile(notOurs, 'not a database\n'.repeat(1000));
    const locked = join(rig.folder, 'locked');
    await mkdir(locked);
    await chmod(locked, 0o000);
    const urls = [`sqlite:${notOurs}`, `sqlite:${rig.folder}`, `sqlite:${notOurs}/inside.db`];
    if (process.getuid?.() !== 0) urls.push(`sqlite:${locked}/test.db`);
    for (const databaseUrl of urls) {
      const env = { ...rig.env, DATABASE_URL: databaseUrl };
      expectRefusal(await runCommand(['account', 'list'], env), 1);
      expectRefusal(await runCommand(['--json', 'ledger', 'verify'], env), 1);
    }
    await chmod(locked, 0o700);
  });

  it('accepts --json before, between and after commands', async () => {
    await rig.json('account', 'create', '--name', 'place');
    for (const args of [
      ['--json', 'account', 'list'],
      ['account', '--json', 'list'],
      ['account', 'list', '--json'],
    ]) {
      const { stdout, code } = await rig.run(...args);
      expect(code).to.equal(0);
      expect(JSON.parse(stdout).accounts).to.have.length(1);
    }
  });

  const spawned = async (...args: string[]) => {
    const { code, stdout, stderr } = await spawnCommand([...args, '--json'], rig.env);
    expect([code, stderr], args.join(' ')).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  };

  it('runs as a process and exits', async () => {
    await spawned('account', 'create', '--name', 'process');
    expectRefusal(await spawnCommand(['wallet', 'show'], rig.env), 2);
  });

  itLong('runs each command as a process and exits', async () => {
    expectRefusal(await spawnCommand(['charge', 'show', 'req_none'], rig.env), 1);
    const { account_id: id } = await spawned('account', 'create', '--name', 'whole');
    await spawned('account', 'suspend', id);
    await spawned('account', 'resume', id);
    expect(await spawned('account', 'show', id)).to.include({ status: 'active' });
    expect((await spawned('account', 'list')).accounts.length).to.be.above(0);
    const { key_id: key } = await spawned('key', 'issue', id, '--name', 'first');
    await spawned('key', 'revoke', key);
    expect((await spawned('key', 'list', id)).keys).to.have.length(1);
    await spawned('wallet', 'topup', id, '1000', '--payment-id', 'whole');
    await spawned('wallet', 'adjust', id, '-1', '--reason', 'test');
    expect(await spawned('wallet', 'show', id)).to.include({ balance_rub: 999 });
    // Two of money, and two of the suspension.
    expect((await spawned('ledger', 'list', id)).entries).to.have.length(4);
    expect(await spawned('ledger', 'verify')).to.include({ ok: true });
    await spawned('catalog', 'check');
    await spawned('store', 'backup', join(rig.folder, 'whole.db'));
  });

  it('shows the defaults of options', async () => {
    const defaults: readonly (readonly [value: string, ...command: string[]])[] = [
      ['50', 'charge', 'list'],
      ['50', 'ledger', 'list'],
      ['50', 'payment', 'list'],
      ['24', 'key', 'rotate'],
      ['"day"', 'usage'],
    ];
    for (const [value, ...command] of defaults) {
      const help = (await rig.text(...command, '--help')).replace(/\s+/g, ' ');
      expect(help, command.join(' ')).to.include(`default: ${value})`);
    }
  });

  itLong('fails if its output cannot be written', async () => {
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [MAIN, 'account', 'list'], {
      env: rig.env,
      stdio: ['ignore', full.fd, 'pipe'],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    await full.close();
    expect([code, stderr]).to.deep.equal([
      1,
      'tollgate: the answer could not be written: ENOSPC: no space left on device, write\n',
    ]);
  });

  itLong('does not fail if its reader is gone', async () => {
    const commands = [['account', 'list'], ['--json', 'account', 'list'], ['--help']];
    for (const args of longer(commands.slice(0, 1), commands)) {
      const child = spawn(process.execPath, [MAIN, ...args], { env: rig.env, stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.destroy();
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const [code] = await once(child, 'close');
      expect([code, stderr]).to.deep.equal([0, '']);
    }
  });
});
