// The table of verbs and the commands: each command is a verb with a route, or listed as one that has none, with a reason.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Command } from 'commander';
import { OPERATOR_SCOPES } from '../../lib/accounts/management-keys.ts';
import { createProgram } from '../../lib/cli/program.ts';
import { COMMAND_ONLY, VERBS } from '../../lib/manage/verbs.ts';

/** The words of all commands that do something. */
function listCommands(command: Command, words: readonly string[] = []): readonly string[] {
  const inner = command.commands.flatMap((each) => listCommands(each, [...words, each.name()]));
  return inner.length === 0 ? [words.join(' ')] : inner;
}

const commands = listCommands(createProgram());
const isCommandOnly = (words: string) =>
  Object.keys(COMMAND_ONLY).some((group) => words === group || words.startsWith(`${group} `));

describe('the table of verbs', () => {
  it('has every command, or says why it has no route', () => {
    const missing = commands.filter((words) => !isCommandOnly(words) && !VERBS.some((verb) => verb.words === words));
    expect(missing).to.deep.equal([]);
  });

  it('has no verb without a command, and none twice', () => {
    const words = VERBS.map((verb) => verb.words);
    expect(words.filter((each) => !commands.includes(each) || isCommandOnly(each))).to.deep.equal([]);
    expect(new Set(words).size).to.equal(words.length);
    const routes = VERBS.map(({ route: { method, path } }) => `${method} ${path}`);
    expect(new Set(routes).size).to.equal(routes.length);
  });

  it('lists no command without a route that is not there', () => {
    const groups = Object.keys(COMMAND_ONLY);
    const idle = groups.filter((group) => !commands.some((words) => words === group || words.startsWith(`${group} `)));
    expect(idle).to.deep.equal([]);
  });

  it('changes something by POST only', () => {
    for (const { route, audit, words } of VERBS) if (route.method === 'GET') expect(audit, words).to.equal(undefined);
  });

  const posts = VERBS.filter(({ route }) => route.method === 'POST');

  it('may be done again after an unknown end unless that makes, tells or moves something twice', () => {
    expect(posts.filter(({ isRepeatable }) => !isRepeatable).map(({ words }) => words)).to.have.members([
      'account create',
      'key issue',
      'key rotate',
      'user invite',
      'user remove-owner',
      'user remove',
      'user reset',
      'member invite',
      'member remove',
      'wallet play-money',
      'promo create',
    ]);
  });

  it('names itself in the log, or writes a line of its own', () => {
    const named = posts.filter(({ audit }) => audit !== undefined);
    for (const { audit, words } of named) expect(audit).to.equal(words.replace(' ', '.').replaceAll('-', '_'));
    const own = posts.filter(({ audit }) => audit === undefined).map(({ words }) => words);
    expect(own.filter((words) => !/^(user|member|grant|promo) /.test(words))).to.deep.equal(['account price-list']);
  });

  it('tells promo codes, which are as good as money, only to those who may give money', () => {
    const scopes = VERBS.filter(({ words }) => words.startsWith('promo ')).map(({ route }) => route.scope);
    expect(scopes).to.deep.equal(['topup', 'topup', 'topup']);
  });

  it('takes long only where a whole table or the catalog is checked', () => {
    const slow = VERBS.filter(({ isSlow }) => isSlow).map(({ words }) => words);
    expect(slow).to.deep.equal(['ledger verify', 'catalog check']);
  });
});

describe('the page about the management API', () => {
  const text = readFileSync(new URL('../../docs/management-api.md', import.meta.url), 'utf8');
  const rowsOf = (title: string) => {
    const [, rest = ''] = text.split(`## ${title}\n`);
    const rows = rest.split(/\n## /, 1)[0]?.match(/^\| `.*$/gm) ?? [];
    return rows.map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  };

  it('lists every verb with its route and scope, and no other', () => {
    const wanted = VERBS.map(({ words, route: { method, path, scope, own = '' } }) => [
      `tollgate ${words}`,
      `${method} ${path}`,
      scope,
      own,
    ]);
    expect(rowsOf('Routes')).to.have.deep.members(wanted);
  });

  it('lists every command without a route, with the reason', () => {
    const wanted = Object.entries(COMMAND_ONLY).map(([words, why]) => [`tollgate ${words}`, why]);
    expect(rowsOf('Commands without a route')).to.have.deep.members(wanted);
  });

  it('names every scope', () => {
    for (const scope of [...OPERATOR_SCOPES, 'account']) expect(text).to.include(`| \`${scope}\` |`);
  });
});
