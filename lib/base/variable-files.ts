// Variables whose value is in a file, as Docker and Kubernetes hand out secrets: NAME_FILE names the file.
import { readFileSync } from 'node:fs';
import { OperatorError } from './operator-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const SUFFIX = '_FILE';
/** A secret is short; a device or a log by mistake is not read whole. */
const CHARACTERS_MAX = 65_536;

/**
 * Sets NAME to what the file of NAME_FILE contains, without the line break at its end, for each NAME that is read. Throws an
 * `OperatorError` if both are set, or if the file cannot be read or is empty.
 */
export function readVariableFiles(env: Environment, isRead: (name: string) => boolean): Environment {
  const found = Object.entries(env).flatMap(([variable, path]) => {
    const name = variable.slice(0, -SUFFIX.length);
    if (!variable.endsWith(SUFFIX) || !isRead(name) || path === undefined || path === '') return [];
    if (env[name]) throw new OperatorError(`Bad environment: both ${name} and ${variable} are set`);
    return [[name, readSecret(variable, path)] as const];
  });
  return found.length === 0 ? env : { ...env, ...Object.fromEntries(found) };
}

function readSecret(variable: string, path: string): string {
  const value = readText(variable, path).replace(/\r?\n$/, '');
  if (value === '') throw new OperatorError(`Bad environment: the file ${path} of ${variable} is empty`);
  if (value.length > CHARACTERS_MAX || value.includes('\0')) {
    throw new OperatorError(`Bad environment: the file ${path} of ${variable} is not a text of at most 64 KB`);
  }
  return value;
}

function readText(variable: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `Bad environment: ${variable}: cannot read ${path} (${(error as NodeJS.ErrnoException).code})`,
    );
  }
}
