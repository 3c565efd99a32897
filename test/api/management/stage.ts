// A gateway with keys of the management API, and requests with them.
import { randomUUID } from 'node:crypto';
import { createManagementKeys, OPERATOR_SCOPES } from '../../../lib/accounts/management-keys.ts';
import { type Reply, type SendOptions, send } from '../../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../../testkit/gateway.ts';

export interface ManagementStage {
  readonly gateway: TestGateway;
  /** A key of an operator with these scopes, all by default. */
  managementKey(scopes?: readonly string[], more?: object): Promise<string>;
  /** A key of the owner of an account. */
  ownKey(account: string): Promise<string>;
  /** Paths are below `/api/v1`; a POST has a new idempotency key unless it has one. */
  ask(key: string | undefined, path: string, body?: unknown, options?: SendOptions): Promise<Reply>;
}

export async function openManagementStage(
  env: Readonly<Record<string, string>> = {},
  upstream = 'http://127.0.0.1:9',
  catalog: object = chatCatalog(upstream),
): Promise<ManagementStage> {
  const gateway = await startGateway({
    catalog,
    env: { MANAGEMENT_RATE_LIMIT_PER_MINUTE: '100000', ...env },
  });
  const keys = createManagementKeys({ store: gateway.store, keyPrefix: 'tg-' });
  return {
    gateway,
    async managementKey(scopes = OPERATOR_SCOPES, more = {}) {
      return (await keys.create({ name: 'billing', scopes, account: null, createdBy: 'usr_a', ...more })).key;
    },
    async ownKey(account) {
      return (await keys.create({ name: 'own', account, createdBy: 'usr_a' })).key;
    },
    ask(key, path, body, { headers = {}, ...options } = {}) {
      const isPost = body !== undefined;
      const all = { ...(isPost && { 'idempotency-key': randomUUID() }), ...headers };
      return send(`${gateway.url}/api/v1${path}`, { key, body, headers: all, ...options });
    },
  };
}
