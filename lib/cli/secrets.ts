// `tollgate secrets`: encrypts what is in the store with the first key of SECRETS_KEY.
import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { type Answer, formatPairs } from '../manage/answer.ts';
import type { Session } from '../manage/session.ts';
import { onStore } from './session.ts';

export function addSecretsCommands(program: Command): void {
  const secrets = program
    .command('secrets')
    .description('secrets in the store, of authenticator apps, webhooks and vendors: encrypt, forget');
  secrets
    .command('encrypt')
    .description(
      'Encrypts every secret with the first key of SECRETS_KEY, also those encrypted with its other keys, which are not ' +
        'needed afterwards. Works beside running servers that have that key.',
    )
    .addHelpText('after', '\nExample:\n  tollgate secrets encrypt')
    .action(onStore(encrypt, { existing: true, sealed: true }));
  secrets
    .command('forget')
    .description(
      'Lets gateways start without a key that is lost. What it encrypted stays unreadable: apps, webhooks and keys of vendors have to be set up anew.',
    )
    .argument('<key>', 'the eight digits by which the refused start names the key')
    .addHelpText('after', '\nExample:\n  tollgate secrets forget 1a2b3c4d')
    .action(onStore(forget, { existing: true, sealed: true }));
}

async function forget({ store }: Session, key: string): Promise<Answer> {
  const { forgetKey } = await import('../store/secrets.ts');
  if (!(await forgetKey(store, key))) {
    throw new OperatorError(`No start asks for a key ${JSON.stringify(key.slice(0, SHOWN_MAX))}.`);
  }
  return { json: { key }, text: formatPairs([['forgotten', key]]) };
}

async function encrypt({ store, config }: Session): Promise<Answer> {
  const { createVault, encryptSecrets } = await import('../store/secrets.ts');
  const { encrypted, secrets, lost } = await encryptSecrets(store, createVault(config.secretsKeys));
  if (lost.length > 0) {
    const named = lost.slice(0, ROWS_SHOWN_MAX).join(', ');
    throw new OperatorError(
      `${lost.length} of ${secrets} secrets cannot be decrypted with the keys of SECRETS_KEY (${named}); the others are encrypted.`,
    );
  }
  return {
    json: { secrets, encrypted },
    text: formatPairs([
      ['secrets', String(secrets)],
      ['encrypted now', String(encrypted)],
    ]),
  };
}

const ROWS_SHOWN_MAX = 10;

const SHOWN_MAX = 20;
