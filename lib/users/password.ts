// Passwords: argon2id with its parameters stored beside the hash, so that they can be raised, and rules against weak ones.
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createFairQueue, type Source } from '../base/fair-queue.ts';
import { fault } from '../base/faults.ts';
import { isCommon } from './common.ts';

const derive = promisify(argon2);

/** 19 MiB, two passes, one lane: OWASP's recommendation for argon2id. */
const MEMORY_KIB = 19 * 1024;
const PASSES = 2;
const LANES = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Each hash takes 19 MiB and a thread of the pool. */
const AT_ONCE_MAX = 2;
/** With more, the last would be served after seconds, when whoever asked has given up. */
const WAITING_MAX = 100;
const SOURCE_MAX = 20;
const RETRY_S = 5;

export const PASSWORD_LENGTH_MIN = 10;
export const PASSWORD_LENGTH_MAX = 256;

export type PasswordProblem = 'short' | 'long' | 'common';

const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{16,86})\$([\w+/]{22,86})$/;

interface Hashed {
  readonly parameters: Omit<Argon2Parameters, 'message'>;
  readonly tag: Buffer;
}

/**
 * `$argon2id$v=19$m=…,t=…,p=…$salt$hash`, in base64 without padding. Different people take turns; throws the fault
 * `busy` if too many are waiting. Strangers, who set no password, are not before them.
 */
export async function hashPassword(password: string, person = ''): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await runInTurn({ name: person, isKnown: true }, { message: messageOf(password), ...current(nonce) });
  const parts = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${parts.join('$')}`;
}

/** `undefined`, for an unknown user, takes as long and never matches. Waits and throws as `hashPassword` does. */
export async function verifyPassword(
  hashed: string | undefined,
  password: string,
  source: Source = STRANGER,
): Promise<boolean> {
  const stored = hashed === undefined ? undefined : parse(hashed);
  const { parameters, tag } = stored ?? { parameters: current(randomBytes(SALT_BYTES)), tag: randomBytes(TAG_BYTES) };
  const found = await runInTurn(source, { message: messageOf(password), ...parameters });
  return timingSafeEqual(found, tag) && stored !== undefined;
}

/** Whether a hash was made with other parameters than the current ones. */
export function isOutdated(hashed: string): boolean {
  const { memory, passes, parallelism, tagLength } = parse(hashed)?.parameters ?? {};
  return memory !== MEMORY_KIB || passes !== PASSES || parallelism !== LANES || tagLength !== TAG_BYTES;
}

/** What is wrong with a new password, if anything. `others` are texts anyone could guess, such as the address. */
export function problemOf(password: string, others: readonly string[] = []): PasswordProblem | undefined {
  const length = [...password].length;
  if (length < PASSWORD_LENGTH_MIN) return 'short';
  if (length > PASSWORD_LENGTH_MAX) return 'long';
  return isCommon(password.normalize('NFKC').toLowerCase(), others) ? 'common' : undefined;
}

function messageOf(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}

function current(nonce: Buffer): Hashed['parameters'] {
  return { nonce, memory: MEMORY_KIB, passes: PASSES, parallelism: LANES, tagLength: TAG_BYTES };
}

function parse(hashed: string): Hashed | undefined {
  const [, memory, passes, parallelism, salt, tag] = FORM.exec(hashed) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  const bytes = Buffer.from(tag, 'base64');
  const numbers = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { parameters: { nonce: Buffer.from(salt, 'base64'), ...numbers, tagLength: bytes.length }, tag: bytes };
}

const inTurn = createFairQueue({
  atOnce: AT_ONCE_MAX,
  waitingMax: WAITING_MAX,
  sourceMax: SOURCE_MAX,
  onFull: () => fault('busy', { retryAfterS: RETRY_S }),
});

const STRANGER: Source = { name: '', isKnown: false };

function runInTurn(source: Source, parameters: Argon2Parameters): Promise<Buffer> {
  return inTurn(source, () => derive('argon2id', parameters));
}
