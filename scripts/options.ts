// The options of a script: `--help` lists them, and unknown ones end it with that list instead of a stack.
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

export function readOptions<T extends Options>(options: T): ReturnType<typeof parseArgs<{ options: T }>>['values'] {
  return read(options, []).values;
}

/** The arguments of a script without options, by their names for people; each may be missing. */
export function readWords(names: readonly string[]): readonly string[] {
  return read({}, names).positionals;
}

function read<T extends Options>(options: T, words: readonly string[]) {
  const list = listOptions(options, words);
  if (process.argv.some((argument) => argument === '--help' || argument === '-h')) {
    process.stdout.write(list);
    process.exit(0);
  }
  try {
    const found = parseArgs({ options, allowPositionals: words.length > 0 });
    const [more] = found.positionals.slice(words.length);
    if (more !== undefined) throw new Error(`Unexpected argument '${more}'`);
    return found;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${list}`);
    process.exit(2);
  }
}

function listOptions(options: Options, words: readonly string[]): string {
  const named = Object.entries(options).map(([name, { type }]) => (type === 'boolean' ? `--${name}` : `--${name} …`));
  if (words.length > 0) return `The arguments are ${words.join(', ')}.\n`;
  return named.length > 0 ? `The options are ${named.join(', ')}.\n` : 'There are no options.\n';
}
