// Hashes passwords with argon2id, with the parameters stored beside the hash so that they can be raised later, and
// rejects weak passwords.
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { createFairQueue, type Source } from '../base/fair-queue.ts';
import { fault } from '../base/faults.ts';
import { isCommonPassword } from './common-passwords.ts';

const derive = promisify(argon2);

/** 19 MiB, two passes, one lane: OWASP's recommendation for argon2id. Tests that check hundreds of passwords lower it. */
export const hashCost = { memoryKiB: 19 * 1024, passes: 2 };
const LANES = 1;
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Each hash takes 19 MiB and a thread of the libuv pool. */
const AT_ONCE_MAX = 2;
/** More would have to wait for seconds, and their clients would give up. */
const WAITING_MAX = 100;
const SOURCE_MAX = 20;
const RETRY_S = 5;

export const PASSWORD_LENGTH_MIN = 10;
export const PASSWORD_LENGTH_MAX = 256;

export type PasswordProblem = 'short' | 'long' | 'common';

const HASH_FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([\w+/]{16,86})\$([\w+/]{22,86})$/;

interface ParsedHash {
  readonly parameters: Omit<Argon2Parameters, 'message'>;
  readonly tag: Buffer;
}

/**
 * Resolves to `$argon2id$v=19$m=…,t=…,p=…$salt$hash` in base64 without padding. The queue is fair between people, and
 * serves known people before strangers; throws the fault `busy` if it is full.
 */
export async function hashPassword(password: string, person = ''): Promise<string> {
  const nonce = randomBytes(SALT_BYTES);
  const tag = await deriveInTurn(
    { name: person, isKnown: true },
    { message: normalizePassword(password), ...currentParameters(nonce) },
  );
  const parts = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=${hashCost.memoryKiB},t=${hashCost.passes},p=${LANES}$${parts.join('$')}`;
}

/** `undefined`, for an unknown user, takes as long and never matches. Waits and throws like `hashPassword`. */
export async function verifyPassword(
  hashed: string | undefined,
  password: string,
  source: Source = UNKNOWN_SOURCE,
): Promise<boolean> {
  const stored = hashed === undefined ? undefined : parseHash(hashed);
  const { parameters, tag } = stored ?? {
    parameters: currentParameters(randomBytes(SALT_BYTES)),
    tag: randomBytes(TAG_BYTES),
  };
  const found = await deriveInTurn(source, { message: normalizePassword(password), ...parameters });
  return timingSafeEqual(found, tag) && stored !== undefined;
}

/** Whether a hash was made with parameters other than the current ones. */
export function isOutdatedHash(hashed: string): boolean {
  const { memory, passes, parallelism, tagLength } = parseHash(hashed)?.parameters ?? {};
  return (
    memory !== hashCost.memoryKiB || passes !== hashCost.passes || parallelism !== LANES || tagLength !== TAG_BYTES
  );
}

/** Checks a new password. `others` are texts that attackers know, such as the email address. */
export function findPasswordProblem(password: string, others: readonly string[] = []): PasswordProblem | undefined {
  const length = [...password].length;
  if (length < PASSWORD_LENGTH_MIN) return 'short';
  if (length > PASSWORD_LENGTH_MAX) return 'long';
  return isCommonPassword(password.normalize('NFKC').toLowerCase(), others) ? 'common' : undefined;
}

function normalizePassword(password: string): Buffer {
  return Buffer.from(password.normalize('NFKC'));
}

function currentParameters(nonce: Buffer): ParsedHash['parameters'] {
  return { nonce, memory: hashCost.memoryKiB, passes: hashCost.passes, parallelism: LANES, tagLength: TAG_BYTES };
}

function parseHash(hashed: string): ParsedHash | undefined {
  const [, memory, passes, parallelism, salt, tag] = HASH_FORM.exec(hashed) ?? [];
  if (salt === undefined || tag === undefined) return undefined;
  const bytes = Buffer.from(tag, 'base64');
  const numbers = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { parameters: { nonce: Buffer.from(salt, 'base64'), ...numbers, tagLength: bytes.length }, tag: bytes };
}

const runFairly = createFairQueue({
  atOnce: AT_ONCE_MAX,
  waitingMax: WAITING_MAX,
  sourceMax: SOURCE_MAX,
  onFull: () => fault('busy', { retryAfterS: RETRY_S }),
});

const UNKNOWN_SOURCE: Source = { name: '', isKnown: false };

function deriveInTurn(source: Source, parameters: Argon2Parameters): Promise<Buffer> {
  return runFairly(source, () => derive('argon2id', parameters));
}
