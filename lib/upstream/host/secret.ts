// The secrets in an upstream's settings: where they are, and how to remove them from a text.

import type Joi from 'joi';
import { listAddressSecrets } from '../../base/address-secrets.ts';
import { isRecord } from '../../base/record.ts';
import { describeSchema } from './account-settings.ts';

const PLACEHOLDER = '[secret]';

/** Shorter values are hardly secrets, and replacing them would damage ordinary words. */
const SECRET_CHARS_MIN = 6;

/** Every string under a key marked `.meta({ secret: true })` or named `apiKey`, and the secrets in addresses. */
export function findSecrets(schema: Joi.Schema, settings: unknown): readonly string[] {
  const texts = new Set<string>();
  addStrings(settings, texts);
  const found = new Set([...allSecrets(schema, settings), ...[...texts].flatMap(listAddressSecrets)]);
  return [...found].filter((secret) => secret.length >= SECRET_CHARS_MIN);
}

/** Whether the settings have no secret at all, or a blank one. */
export function lacksSecret(schema: Joi.Schema, settings: unknown): boolean {
  const found = [...allSecrets(schema, settings)];
  return found.length === 0 || found.some((secret) => secret.trim() === '');
}

function allSecrets(schema: Joi.Schema, settings: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  collect(describeSchema(schema), settings, found);
  if (isRecord(settings)) addStrings(settings.apiKey, found);
  return found;
}

/** The text with every secret replaced. */
export function scrub(text: string, secrets: readonly string[]): string {
  return secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, PLACEHOLDER), text);
}

/** Whether a setting is marked `.meta({ secret: true })`. */
export function isSecret({ metas }: Joi.Description): boolean {
  return metas?.some((meta: unknown) => isRecord(meta) && meta.secret === true) === true;
}

function collect(description: Joi.Description, value: unknown, found: Set<string>): void {
  if (isSecret(description)) addStrings(value, found);
  const keys: Record<string, Joi.Description> = description.keys ?? {};
  if (isRecord(value)) for (const [key, inner] of Object.entries(keys)) collect(inner, value[key], found);
  const items: readonly Joi.Description[] = description.items ?? [];
  if (Array.isArray(value)) for (const element of value) for (const inner of items) collect(inner, element, found);
  const matches: readonly { schema?: Joi.Description }[] = description.matches ?? [];
  for (const { schema } of matches) if (schema) collect(schema, value, found);
}

function addStrings(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') found.add(value);
  else if (Array.isArray(value)) for (const element of value) addStrings(element, found);
  else if (isRecord(value)) for (const inner of Object.values(value)) addStrings(inner, found);
}
