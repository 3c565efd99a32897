// The environment, checked once and frozen: every variable of the service is documented here.
import { randomBytes } from 'node:crypto';
import { distance } from 'fastest-levenshtein';
import Joi from 'joi';
import { buildLoopbackUrl, readProxies } from './base/network.ts';
import { OperatorError } from './base/operator-error.ts';
import { readVariableFiles } from './base/variable-files.ts';

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Proxies in front whose `X-Forwarded-For` is believed, as `readProxies` takes them. */
  readonly trustedProxies: string;
  /** Worker processes. */
  readonly workers: number;
  /** Base of the links handed out, without a slash at the end. */
  readonly publicUrl: string;
  /** True when `PUBLIC_URL` was set. */
  readonly publicUrlSet: boolean;
  readonly databaseUrl: string;
  /** Files of the service itself: stored media when the database is SQLite. */
  readonly dataDir: string;
  /** How long stored media can be read. */
  readonly mediaTtlHours: number;
  /** Keys for secrets in the store: the first encrypts, all decrypt. Without any, secrets are stored in plain text. */
  readonly secretsKeys: readonly Buffer[];
  /** Who may register on the pages: nobody, invited people, or anybody with an email address. */
  readonly registration: 'closed' | 'invite' | 'open';
  /** Whether everybody may see how reliably models answer. */
  readonly statusPage: boolean;
  /** The server that sends email; without it the operator hands out links. */
  readonly smtpUrl: string | undefined;
  /** The bot that sends alerts to people who have linked a chat; without it alerts go by email and webhook only. */
  readonly telegramToken: string | undefined;
  /** Base URL of Telegram's Bot API, without a slash at the end. */
  readonly telegramApi: string;
  readonly catalogDir: string;
  /** Origins that images and results may be fetched from although their addresses are not public. */
  readonly imageTrustedOrigins: string;
  readonly webhookTrustedOrigins: string;
  /** Patterns of the variables that a catalog may use, with `*` for any text; the service's own are excluded. */
  readonly catalogVariables: readonly string[];
  readonly providersPath: readonly string[];
  /** Like `providersPath`, for payment plugins. */
  readonly paymentsPath: readonly string[];
  readonly logLevel: string;
  readonly sandbox: 'auto' | 'on' | 'off';
  readonly keyPrefix: string;
  readonly rateLimitPerMinute: number;
  readonly balanceRateLimitPerMinute: number;
  readonly countRateLimitPerMinute: number;
  readonly videoRateLimitPerMinute: number;
  /** Of each key of the management API. */
  readonly managementRateLimitPerMinute: number;
  /** Page views of one person. */
  readonly pageRateLimitPerMinute: number;
  /** Memory for request bodies; one key may use half of it. */
  readonly bodyMemoryBytes: number;
  /** Upstream: until the first fragment, between fragments, in all. */
  readonly firstTokenTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** A client that reads nothing for this long counts as gone. */
  readonly clientStallMs: number;
  /** The first interval of polling an upstream for a video. */
  readonly videoPollMs: number;
  /** An unfinished video fails after this. */
  readonly videoDeadlineMs: number;
  /** Lifetime of a hold's or a job's lease; the sweeper runs at least as often. */
  readonly leaseMs: number;
  /** How long a shutdown still accepts calls while health checks fail, so that a proxy notices. */
  readonly shutdownDelayMs: number;
  /** How long a shutdown waits for calls to finish. */
  readonly drainMs: number;
  /** Where `/metrics` is served; without a port, no metrics are collected. */
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  /** The rest of the environment, for the catalog's `${NAME}`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** This process, as the owner of its holds. */
  readonly ownerId: string;
}

const milliseconds = (byDefault: number, least = 1) =>
  Joi.number().integer().min(least).max(2_147_483_647).default(byDefault);

/** Variables that upstreams usually need: keys, addresses and the like. */
const CATALOG_VARIABLES = '*_API_KEY,*_SECRET,*_SHOP_ID,*_BASE_URL,*_FOLDER,*_SCOPE,*_AUTH_URL,*_CA';

const schema = Joi.object({
  HOST: Joi.string().default('127.0.0.1'),
  PORT: Joi.number().integer().min(0).max(65_535).default(8080),
  TRUSTED_PROXIES: Joi.string()
    .custom((text: string, { error }) => (readProxies(text) ? text : error('any.custom')))
    .messages({
      'any.custom': '{#label} is neither a number of hops nor a list of addresses and networks (10.0.0.0/8)',
    })
    .default('0'),
  WORKERS: Joi.number().integer().min(1).max(64).default(1),
  // The message omits the value, which may contain a password.
  PUBLIC_URL: Joi.string()
    .custom((text: string, { error }) => (isBaseUrl(text) ? text : error('any.custom')))
    .messages({
      'any.custom': '{#label} must be an http:// or https:// URL without a user, a query or a fragment',
    }),
  DATABASE_URL: Joi.string()
    .pattern(/^(?:sqlite:|mongodb(?:\+srv)?:\/\/).+/, 'database')
    // The message omits the value, which may contain a password.
    .messages({ 'string.pattern.name': '{#label} is neither sqlite:<path> nor mongodb://<hosts>/<database>' })
    .default('sqlite:./data/tollgate.db'),
  DATA_DIR: Joi.string().default('./data'),
  REGISTRATION: Joi.string().valid('closed', 'invite', 'open').default('closed'),
  STATUS_PAGE: Joi.string().valid('on', 'off').default('off'),
  SMTP_URL: Joi.string(),
  // The message omits the value.
  TELEGRAM_BOT_TOKEN: Joi.string()
    .pattern(/^\d{3,20}:[\w-]{20,100}$/, 'token')
    .messages({
      'string.pattern.name': '{#label} must be what BotFather gave you: digits, a colon and some 35 characters',
    }),
  TELEGRAM_API: Joi.string()
    .custom((text: string, { error }) => (isBaseUrl(text) ? text : error('any.custom')))
    .messages({ 'any.custom': '{#label} must be an http:// or https:// URL without a user, a query or a fragment' })
    .default('https://api.telegram.org'),
  // The message omits the value.
  SECRETS_KEY: Joi.string()
    .custom((text: string, { error }) => (text.split(',').every((key) => readKey(key)) ? text : error('any.custom')))
    .messages({ 'any.custom': '{#label} must be 32 bytes in base64 or hex, or several of them separated by commas' }),
  MEDIA_TTL_HOURS: Joi.number().integer().min(1).max(8760).default(24),
  CATALOG_DIR: Joi.string(),
  CATALOG_VARIABLES: Joi.string()
    .pattern(/^\s*[A-Za-z0-9_*]+(?:\s*,\s*[A-Za-z0-9_*]+)*\s*$/)
    .messages({ 'string.pattern.base': '{#label} must be names with * for any text, separated by commas' })
    .default(CATALOG_VARIABLES),
  PROVIDERS_PATH: Joi.string().default(''),
  PAYMENTS_PATH: Joi.string().default(''),
  IMAGE_TRUSTED_ORIGINS: Joi.string().default(''),
  WEBHOOK_TRUSTED_ORIGINS: Joi.string().default(''),
  LOG_LEVEL: Joi.string().valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent').default('info'),
  SANDBOX: Joi.string().valid('auto', 'on', 'off').default('auto'),
  KEY_PREFIX: Joi.string()
    .pattern(/^[a-z0-9-]{0,16}$/)
    .messages({ 'string.pattern.base': '{#label} must be at most 16 lower-case letters, digits and dashes' })
    .default('tg-'),
  RATE_LIMIT_PER_MINUTE: Joi.number().integer().min(1).default(30),
  BALANCE_RATE_LIMIT_PER_MINUTE: Joi.number().integer().min(1).default(120),
  COUNT_RATE_LIMIT_PER_MINUTE: Joi.number().integer().min(1).default(120),
  VIDEO_RATE_LIMIT_PER_MINUTE: Joi.number().integer().min(1).default(120),
  MANAGEMENT_RATE_LIMIT_PER_MINUTE: Joi.number().integer().min(1).default(300),
  PAGE_RATE_LIMIT_PER_MINUTE: Joi.number().integer().min(1).default(300),
  // Half of it must have room for one body of the maximum size.
  BODY_MEMORY_MB: Joi.number().integer().min(96).max(1_000_000).default(96),
  FIRST_TOKEN_TIMEOUT_MS: milliseconds(60_000),
  IDLE_TIMEOUT_MS: milliseconds(60_000),
  TOTAL_TIMEOUT_MS: milliseconds(600_000),
  CLIENT_STALL_MS: milliseconds(60_000),
  VIDEO_POLL_MS: milliseconds(5_000),
  VIDEO_DEADLINE_MS: milliseconds(7_200_000),
  // A shorter lease would expire before it is renewed.
  LEASE_MS: milliseconds(15_000, 50),
  SHUTDOWN_DELAY_MS: milliseconds(0, 0),
  DRAIN_MS: milliseconds(30_000, 0),
  METRICS_HOST: Joi.string().default('127.0.0.1'),
  METRICS_PORT: Joi.number()
    .integer()
    .min(0)
    .max(65_535)
    // 0 means any free port, for both.
    .when('PORT', { is: 0, otherwise: Joi.invalid(Joi.ref('PORT')) })
    .messages({ 'any.invalid': '{#label} must differ from PORT' }),
})
  .unknown(true)
  .prefs({ abortEarly: false, errors: { wrap: { label: false } } });

/** Variables that the service itself reads. */
export const VARIABLES: readonly string[] = Object.keys(schema.describe().keys);

/** An unknown variable, and the one that was probably meant. */
interface Misspelling {
  readonly name: string;
  readonly meant: string;
}

/** Shorter names are too close to other words. */
const LONG_NAME = 6;

/** Names that differ from a known variable by one letter, or by two swapped ones. */
export function findMisspellings(env: Readonly<Record<string, string | undefined>>): readonly Misspelling[] {
  const others = Object.keys(env).filter((name) => !VARIABLES.includes(name));
  return others.flatMap((name) => {
    const meant = VARIABLES.find((known) => known.length >= LONG_NAME && isMisspelled(name.toUpperCase(), known));
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function isMisspelled(name: string, known: string): boolean {
  const letters = (text: string) => [...text].sort().join('');
  const edits = distance(name, known);
  return edits < 2 || (edits === 2 && letters(name) === letters(known));
}

/** The folder that contains `lib/`, the shipped catalog and the providers. */
const ROOT = new URL('../', import.meta.url);

/**
 * Reads and checks the variables of docs/configuration.md, also those that name files. Throws an `OperatorError` that
 * lists every wrong one.
 */
export function readConfig(variables: Readonly<Record<string, string | undefined>>): Config {
  const env = readVariableFiles(variables, isValueOrSecret(variables.CATALOG_VARIABLES || CATALOG_VARIABLES));
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { value, error } = schema.validate(present, { convert: true });
  if (error) throw new OperatorError(`Bad environment: ${error.details.map((detail) => detail.message).join('; ')}`);
  return Object.freeze({
    host: value.HOST,
    port: value.PORT,
    trustedProxies: value.TRUSTED_PROXIES,
    workers: value.WORKERS,
    publicUrl: (value.PUBLIC_URL ?? buildLoopbackUrl(value.HOST, value.PORT)).replace(/\/+$/, ''),
    publicUrlSet: value.PUBLIC_URL !== undefined,
    databaseUrl: value.DATABASE_URL,
    dataDir: value.DATA_DIR,
    mediaTtlHours: value.MEDIA_TTL_HOURS,
    secretsKeys: parseSecretsKeys(value.SECRETS_KEY),
    registration: value.REGISTRATION,
    statusPage: value.STATUS_PAGE === 'on',
    smtpUrl: value.SMTP_URL,
    telegramToken: value.TELEGRAM_BOT_TOKEN,
    telegramApi: value.TELEGRAM_API.replace(/\/+$/, ''),
    catalogDir: value.CATALOG_DIR ?? decodeURIComponent(new URL('catalog/', ROOT).pathname),
    catalogVariables: splitPatterns(value.CATALOG_VARIABLES),
    providersPath: splitFolders(value.PROVIDERS_PATH),
    paymentsPath: splitFolders(value.PAYMENTS_PATH),
    imageTrustedOrigins: value.IMAGE_TRUSTED_ORIGINS,
    webhookTrustedOrigins: value.WEBHOOK_TRUSTED_ORIGINS,
    logLevel: value.LOG_LEVEL,
    sandbox: value.SANDBOX,
    keyPrefix: value.KEY_PREFIX,
    rateLimitPerMinute: value.RATE_LIMIT_PER_MINUTE,
    balanceRateLimitPerMinute: value.BALANCE_RATE_LIMIT_PER_MINUTE,
    countRateLimitPerMinute: value.COUNT_RATE_LIMIT_PER_MINUTE,
    videoRateLimitPerMinute: value.VIDEO_RATE_LIMIT_PER_MINUTE,
    managementRateLimitPerMinute: value.MANAGEMENT_RATE_LIMIT_PER_MINUTE,
    pageRateLimitPerMinute: value.PAGE_RATE_LIMIT_PER_MINUTE,
    bodyMemoryBytes: value.BODY_MEMORY_MB * 1024 * 1024,
    firstTokenTimeoutMs: value.FIRST_TOKEN_TIMEOUT_MS,
    idleTimeoutMs: value.IDLE_TIMEOUT_MS,
    totalTimeoutMs: value.TOTAL_TIMEOUT_MS,
    clientStallMs: value.CLIENT_STALL_MS,
    videoPollMs: value.VIDEO_POLL_MS,
    videoDeadlineMs: value.VIDEO_DEADLINE_MS,
    leaseMs: value.LEASE_MS,
    shutdownDelayMs: value.SHUTDOWN_DELAY_MS,
    drainMs: value.DRAIN_MS,
    metricsHost: value.METRICS_HOST,
    metricsPort: value.METRICS_PORT,
    env,
    ownerId: `own_${randomBytes(12).toString('hex')}`,
  });
}

/** Whether a variable is one of the service's own, or one that a catalog may use. */
function isValueOrSecret(patterns: string): (name: string) => boolean {
  const allowed = splitPatterns(patterns);
  return (name) => VARIABLES.includes(name) || allowed.some((pattern) => matchesPattern(name, pattern));
}

function splitPatterns(patterns: string): readonly string[] {
  return patterns.split(',').map((pattern) => pattern.trim());
}

/** For the patterns of CATALOG_VARIABLES, which consist of letters, digits, `_` and `*`: any text. */
export function matchesPattern(name: string, pattern: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name);
}

/** Whether links can be made by appending a path. */
function isBaseUrl(text: string): boolean {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null;
  return url !== null && url.username === '' && url.password === '' && !/[?#\s]/.test(text);
}

const KEY_BYTES = 32;

/** A key as `openssl rand -hex 32` or `openssl rand -base64 32` prints it; undefined for any other text. */
function readKey(text: string): Buffer | undefined {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  const bytes = /^[\w+/-]{43}=?$/.test(trimmed) ? Buffer.from(trimmed, 'base64') : undefined;
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

function parseSecretsKeys(text: string | undefined): readonly Buffer[] {
  return (text ?? '')
    .split(',')
    .map(readKey)
    .filter((key) => key !== undefined);
}

function splitFolders(path: string): readonly string[] {
  return path.split(':').filter((folder) => folder !== '');
}
