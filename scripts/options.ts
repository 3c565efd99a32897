// The options of a script. Unknown ones end it with a line that lists those there are, instead of a stack.
import { type ParseArgsConfig, parseArgs } from 'node:util';

export function readOptions<T extends NonNullable<ParseArgsConfig['options']>>(
  options: T,
): ReturnType<typeof parseArgs<{ options: T }>>['values'] {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    const names = Object.entries(options).map(([name, { type }]) => (type === 'boolean' ? `--${name}` : `--${name} …`));
    process.stderr.write(`${(error as Error).message}\nThe options are ${names.join(', ')}.\n`);
    process.exit(2);
  }
}
