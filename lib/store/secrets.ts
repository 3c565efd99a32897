// Secrets at rest: a secret that must be read again, such as that of an authenticator app, is encrypted when it is stored,
// if the operator has set a key, and decrypted when it is read.
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto';
import { OperatorError } from '../base/operator-error.ts';
import type { AlertSettings } from './ports/alerts.ts';
import type { Setting } from './ports/settings.ts';
import type { User } from './ports/users.ts';
import type { Store } from './store.ts';
import { walkRows } from './walks.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `enc:v1:<id of the key>:<nonce, tag and text in base64url>`. */
const SEALED = /^enc:v1:([0-9a-f]{8}):([\w-]+)$/;

/** Whether a secret is still encrypted, because its key is missing or it is damaged. */
export function isSealed(secret: string): boolean {
  return secret.startsWith('enc:');
}

interface Vault {
  /** The id of the key that encrypts; undefined if no key is set. */
  readonly current: string | undefined;
  has(keyId: string): boolean;
  /** Encrypts a secret for its place; without a key, or if it is encrypted already, returns it unchanged. */
  seal(secret: string, place: string): string;
  /** Undefined if the key is missing, or the secret was encrypted for another place or changed. */
  open(stored: string, place: string): string | undefined;
}

/** The first key encrypts; all keys decrypt. */
export function createVault(keys: readonly Buffer[]): Vault {
  const byId = new Map(keys.map((key) => [deriveKeyId(key), key]));
  const [current] = byId.keys();
  return {
    current,
    has: (keyId) => byId.has(keyId),
    seal(secret, place) {
      const key = current === undefined ? undefined : byId.get(current);
      if (!key || isSealed(secret)) return secret;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return `enc:v1:${current}:${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
    },
    open(stored, place) {
      if (!isSealed(stored)) return stored;
      const [, keyId = '', body = ''] = SEALED.exec(stored) ?? [];
      const key = byId.get(keyId);
      return key && decrypt(Buffer.from(body, 'base64url'), key, place);
    },
  };
}

function decrypt(bytes: Buffer, key: Buffer, place: string): string | undefined {
  const tagAt = NONCE_BYTES;
  const textAt = NONCE_BYTES + TAG_BYTES;
  if (bytes.length < textAt) return undefined;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, tagAt), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(tagAt, textAt));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(textAt)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** An id that reveals nothing about the key. */
function deriveKeyId(key: Buffer): string {
  return hash('sha256', Buffer.concat([Buffer.from('tollgate secrets key\n'), key])).slice(0, 8);
}

/** The place contains the row, so that a secret copied to another row cannot be decrypted there. */
const getTotpPlace = (user: string) => `users/${user}/totp`;
/** The names of settings whose values are secrets, such as the keys of upstreams that operators type in. */
export const SECRET_SETTING = 'secret/';
const getSettingPlace = (name: string) => `settings/${name}`;
const getWebhookPlace = (account: string) => `alerts/${account}/webhook`;

type SecretTransform = (secret: string, place: string) => string;

function mapUser(user: User, change: SecretTransform): User {
  const { id, totpSecret } = user;
  return totpSecret === null ? user : { ...user, totpSecret: change(totpSecret, getTotpPlace(id)) };
}

function mapAlerts(settings: AlertSettings, change: SecretTransform): AlertSettings {
  const { account, webhook } = settings;
  if (!webhook) return settings;
  return { ...settings, webhook: { ...webhook, secret: change(webhook.secret, getWebhookPlace(account)) } };
}

/**
 * Wraps a store so that its callers see secrets in plain text. A secret that cannot be decrypted stays encrypted: it is
 * refused where it is used, and written back unchanged.
 */
export function withSecrets(store: Store, vault: Vault): Store {
  const { users, alerts, settings } = store;
  const unseal: SecretTransform = (stored, place) => vault.open(stored, place) ?? stored;
  const revealUser = (user: User | undefined) => user && mapUser(user, unseal);
  const revealAlerts = (settings: AlertSettings | undefined) => settings && mapAlerts(settings, unseal);
  async function sealUser(user: User): Promise<User> {
    if (user.totpSecret !== null) await recordKeyUse(store, vault);
    return mapUser(user, vault.seal);
  }
  async function sealAlerts(settings: AlertSettings): Promise<AlertSettings> {
    if (settings.webhook) await recordKeyUse(store, vault);
    return mapAlerts(settings, vault.seal);
  }
  const unsealSetting = (name: string, value: string) =>
    name.startsWith(SECRET_SETTING) ? unseal(value, getSettingPlace(name)) : value;
  return {
    ...store,
    settings: {
      ...settings,
      async get(name) {
        const value = await settings.get(name);
        return value && unsealSetting(name, value);
      },
      async set(name, value) {
        const toSeal = name.startsWith(SECRET_SETTING) && value !== '';
        if (toSeal) await recordKeyUse(store, vault);
        await settings.set(name, toSeal ? vault.seal(value, getSettingPlace(name)) : value);
      },
    },
    users: {
      ...users,
      add: async (user) => users.add(await sealUser(user)),
      addFirstOperator: async (user) => users.addFirstOperator(await sealUser(user)),
      change: async (user) => users.change(await sealUser(user)),
      get: async (id) => revealUser(await users.get(id)),
      find: async (email) => revealUser(await users.find(email)),
      page: async (page) => (await users.page(page)).map((user) => mapUser(user, unseal)),
    },
    alerts: {
      ...alerts,
      get: async (account) => revealAlerts(await alerts.get(account)),
      change: async (settings) => alerts.change(await sealAlerts(settings)),
      page: async (page) => (await alerts.page(page)).map((settings) => mapAlerts(settings, unseal)),
      put: async (settings, alarms) => alerts.put(await sealAlerts(settings), alarms),
    },
  };
}

/** Prefix of settings that record which keys have encrypted something, so that a start without such a key is refused. */
const KEY_SETTING = 'secrets.key.';
const USED = 'used';
const RETIRED = 'retired';

/** Called before each encryption, because another process may have retired the key. */
async function recordKeyUse({ settings }: Pick<Store, 'settings'>, { current }: Vault): Promise<void> {
  const name = `${KEY_SETTING}${current}`;
  if (current !== undefined && (await settings.get(name)) !== USED) await settings.set(name, USED);
}

/** Rejects with `OperatorError` if a secret in the store is encrypted with a missing key. */
export async function checkSecrets({ settings }: Pick<Store, 'settings'>, vault: Vault): Promise<void> {
  const lost = (await listUsedKeys(settings)).filter((keyId) => !vault.has(keyId));
  if (lost.length === 0) return;
  throw new OperatorError(
    `SECRETS_KEY: secrets in the store are encrypted with the key ${lost.join(' and ')}, which ` +
      `${vault.current === undefined ? 'is not set' : 'is not among those set'}: nobody could sign in with an authenticator app. ` +
      'Set it again; docs/operations/access.md says how to replace a key.',
  );
}

async function listUsedKeys(settings: Store['settings']): Promise<readonly string[]> {
  const rows = (await settings.list()).filter(({ name, value }) => name.startsWith(KEY_SETTING) && value === USED);
  return rows.map(({ name }) => name.slice(KEY_SETTING.length));
}

/** Lets the service start without a lost key; false if the key was not in use. Its secrets must be set again. */
export async function forgetKey({ settings }: Pick<Store, 'settings'>, keyId: string): Promise<boolean> {
  const isUsed = (await listUsedKeys(settings)).includes(keyId);
  if (isUsed) await settings.set(`${KEY_SETTING}${keyId}`, RETIRED);
  return isUsed;
}

interface Encrypted {
  readonly secrets: number;
  /** The number of secrets that were encrypted now, or again with the first key. */
  readonly encrypted: number;
  /** The rows whose secret cannot be decrypted. */
  readonly lost: readonly string[];
}

/**
 * Encrypts every secret with the first key, while gateways may be running; these must have that key, too. Needs the store
 * without `withSecrets`. If no secret is lost, the other keys are no longer needed.
 */
export async function encryptSecrets({ users, alerts, settings }: Store, vault: Vault): Promise<Encrypted> {
  const { current } = vault;
  if (current === undefined) throw new OperatorError('SECRETS_KEY is not set: there is no key to encrypt with.');
  await settings.set(`${KEY_SETTING}${current}`, USED);
  const ofUsers = { read: users.get, write: users.change, map: mapUser };
  const ofAlerts = { read: alerts.get, write: alerts.change, map: mapAlerts };
  const results: EncryptionResult[] = [];
  for await (const { id } of walkRows(ROWS_PER_PAGE, users.page, (user) => user.id)) {
    results.push(await encryptRow(id, { ...ofUsers, getSecret: (user) => user.totpSecret }, vault));
  }
  for await (const { account } of walkRows(ROWS_PER_PAGE, alerts.page, (row) => row.account)) {
    results.push(
      await encryptRow(account, { ...ofAlerts, getSecret: ({ webhook }) => webhook?.secret ?? null }, vault),
    );
  }
  for (const { name } of (await settings.list()).filter((row) => row.name.startsWith(SECRET_SETTING))) {
    results.push(await encryptRow(name, ofSettings(settings), vault));
  }
  const lost = results.filter(({ end }) => end === 'lost').map(({ id }) => id);
  if (lost.length === 0) {
    const others = (await listUsedKeys(settings)).filter((keyId) => keyId !== current);
    for (const keyId of others) await settings.set(`${KEY_SETTING}${keyId}`, RETIRED);
  }
  const encrypted = results.filter(({ end }) => end === 'encrypted').length;
  return { secrets: results.filter(({ end }) => end !== 'none').length, encrypted, lost };
}

/** The value of a secret setting never changes, so that no other process can have written it in the meantime. */
function ofSettings({ get, set }: Pick<Store['settings'], 'get' | 'set'>): SecretRows<Setting> {
  return {
    async read(name) {
      const value = await get(name);
      return value === undefined ? undefined : { name, value };
    },
    async write({ name, value }) {
      await set(name, value);
      return true;
    },
    map: ({ name, value }, change) => ({ name, value: change(value, getSettingPlace(name)) }),
    // A secret that is no longer needed is blank.
    getSecret: ({ value }) => value || null,
  };
}

const ROWS_PER_PAGE = 200;

interface EncryptionResult {
  readonly id: string;
  /** `kept`: the secret is encrypted with the first key already. */
  readonly end: 'none' | 'kept' | 'encrypted' | 'lost';
}

interface SecretRows<Row> {
  readonly read: (id: string) => Promise<Row | undefined>;
  /** False if the row has changed in the meantime. */
  readonly write: (row: Row) => Promise<boolean>;
  readonly map: (row: Row, change: SecretTransform) => Row;
  readonly getSecret: (row: Row) => string | null;
}

async function encryptRow<Row>(id: string, rows: SecretRows<Row>, vault: Vault): Promise<EncryptionResult> {
  for (;;) {
    const row = await rows.read(id);
    const stored = row && rows.getSecret(row);
    if (!row || typeof stored !== 'string') return { id, end: 'none' };
    const plain = rows.map(row, (secret, place) => vault.open(secret, place) ?? secret);
    if (isSealed(rows.getSecret(plain) ?? '')) return { id, end: 'lost' };
    if (SEALED.exec(stored)?.[1] === vault.current) return { id, end: 'kept' };
    if (await rows.write(rows.map(plain, vault.seal))) return { id, end: 'encrypted' };
  }
}
