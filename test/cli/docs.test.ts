// The table of docs/cli.md against the commands.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Command } from 'commander';
import { createProgram } from '../../lib/cli/program.ts';

/** `account create`, and `serve` for a command without others below it. */
function listCommands({ commands }: Command): readonly string[] {
  return commands.flatMap((group) => {
    const inner = group.commands.map((command) => `${group.name()} ${command.name()}`);
    return inner.length > 0 ? inner : [group.name()];
  });
}

/** The first name of a list has its group: `account create`, `list`. */
function listDocumented(page: string): readonly string[] {
  const rows = /## All commands\n(.*?)\n## /s.exec(page)?.[1]?.match(/^\| `.*/gm) ?? [];
  return rows.flatMap((row) =>
    (row.split('|')[1] ?? '').split(';').flatMap((list) => {
      const [first = '', ...others] = [...list.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      const [group, inner] = first.split(' ');
      return [first, ...others.map((name) => (inner === undefined ? name : `${group} ${name}`))];
    }),
  );
}

describe('docs/cli.md', () => {
  it('lists every command once', () => {
    const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
    expect(listDocumented(page)).to.have.members(listCommands(createProgram()));
  });
});
