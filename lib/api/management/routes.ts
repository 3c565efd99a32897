// The routes of the management API and of the API of owners, made of the table of verbs.
import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { fault } from '../../base/faults.ts';
import { OperatorError, UnknownError } from '../../base/operator-error.ts';
import { readBody } from '../../http/body.ts';
import { findClientAddress } from '../../http/client-address.ts';
import { checkJsonType, parseJson } from '../../http/json.ts';
import type { Answer } from '../../manage/answer.ts';
import { findChangedAccount, readId, recordVerb } from '../../manage/audited-action.ts';
import { findUser, type Session } from '../../manage/session.ts';
import type { Actions, Verb } from '../../manage/verb.ts';
import { VERBS } from '../../manage/verbs.ts';
import { isRead, mapCalls } from '../../store/port-calls.ts';
import type { ManagementKey } from '../../store/ports/management.ts';
import { type Store, StoreError } from '../../store/store.ts';
import type { Services } from '../services.ts';
import { confirmManager, getManager, MANAGEMENT_AUTH } from './auth.ts';
import { readBodyInput, readQueryInput } from './read-input.ts';
import { hasChangedNothing, toManagementFault } from './refusals.ts';
import { type ClaimedRequest, claimRequest } from './stored-replies.ts';

export const MANAGE = '/api/v1/manage';
export const OWN = '/api/v1/account';
const BODY_BYTES_MAX = 64 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';
const SLOW_RETRY_S = 30;

type ManagementServices = Pick<Services, 'store' | 'config' | 'calls' | 'memoryQuota' | 'publicUrl' | 'isReal' | 'log'>;

/** What a verb gets: the values of its path and of its query or body. */
type Input = Readonly<Record<string, unknown>>;

/** Whether a path belongs to the management API or to the API of owners, even if no verb is there. */
export function isManagementPath(path: string): boolean {
  return path.startsWith(`${MANAGE}/`) || path.startsWith(`${OWN}/`);
}

export function managementRoutes(services: ManagementServices): readonly ServerRoute[] {
  /** Slow verbs that run now. */
  const running = new Set<Verb>();

  function createRoute(verb: Verb, path: string, isOwn: boolean): ServerRoute {
    const { method, scope } = verb.route;
    return {
      method,
      path,
      options: { auth: MANAGEMENT_AUTH, plugins: { scope: isOwn ? 'account' : scope } },
      handler: (request, h) => answer(request, h, { verb, isOwn }),
    };
  }

  async function answer(request: Request, h: ResponseToolkit, { verb, isOwn }: { verb: Verb; isOwn: boolean }) {
    const manager = getManager(request);
    const call = services.calls.open(request);
    try {
      const sent = verb.route.method === 'POST' ? await readPost(request, call.signal) : undefined;
      const actions = await import('../../manage/actions.ts');
      const values = sent
        ? readBodyInput(verb.input, sent.value)
        : readQueryInput(verb.input, request.url.searchParams);
      const input = { ...values, ...request.params, ...(isOwn && { account: manager.account }) };
      const action = { request, verb, actions, input, manager, isOwn };
      if (!sent) return h.response(JSON.stringify(await read(action))).type(JSON_TYPE);
      const { reply, isReplayed } = await change(action, sent);
      const response = h.response(reply).type(JSON_TYPE);
      return isReplayed ? response.header('idempotent-replayed', 'true') : response;
    } catch (error) {
      throw toManagementFault(error, { changes: verb.route.method === 'POST' });
    } finally {
      call.close();
    }
  }

  async function readPost(request: Request, signal: AbortSignal): Promise<Sent> {
    const reservation = services.memoryQuota.reserve(getManager(request).id);
    try {
      const { req } = request.raw;
      const bytes = await readBody(req, { signal, reservation, limits: { bytesMax: BODY_BYTES_MAX } });
      await confirmManager(request, services.store);
      if (bytes.length === 0) return { bytes, value: {} };
      checkJsonType(req.headers['content-type']);
      return { bytes, value: parseJson(bytes) };
    } finally {
      reservation.releaseAll();
    }
  }

  async function read(action: Action): Promise<object> {
    const { request, verb, input, manager, isOwn } = action;
    const session = openSession(request, manager);
    if (verb.isSlow) return runAlone(action, session);
    // Other reads name no object, or say in the reply whose it is.
    const namesKey = isOwn && verb.route.path.includes('{key}');
    if (namesKey && (await findChangedAccount(services.store, input)) !== manager.account) throw unknownObject(input);
    const { json } = await run(action, session);
    if (!isOwn) return json;
    refuseForeign(json, { manager, input });
    return omitMembers(json, verb.hidden ?? []);
  }

  async function runAlone(action: Action, session: Session): Promise<object> {
    const { verb } = action;
    if (running.has(verb)) throw fault('still_counting', { retryAfterS: SLOW_RETRY_S });
    running.add(verb);
    try {
      return (await run(action, session)).json;
    } finally {
      running.delete(verb);
    }
  }

  async function change(action: Action, sent: Sent): Promise<{ reply: string; isReplayed: boolean }> {
    const { request, verb, manager } = action;
    const store = services.store.management;
    const claimed = await claimRequest(request, {
      store,
      key: manager.id,
      body: sent.bytes,
      isRepeatable: verb.isRepeatable === true,
    });
    if ('reply' in claimed) return { reply: claimed.reply, isReplayed: true };
    return { reply: await runOnce(action, sent, claimed), isReplayed: false };
  }

  async function runOnce(action: Action, sent: Sent, claimed: ClaimedRequest): Promise<string> {
    const { request, verb, input, manager, isOwn } = action;
    const session = openSession(request, manager, claimed);
    const watched = watchChanges(session.store);
    let account: string | undefined;
    let json: object;
    try {
      account = await findChangedAccount(services.store, input);
      if (isOwn && account !== manager.account) throw unknownObject(input);
      await refuseOperators(action, session);
      ({ json } = await run(action, { ...session, store: watched.store }));
    } catch (failure) {
      const error = watched.hasChanged() ? toUnconfirmed(failure) : failure;
      // A failure to free it only makes a repeat wait for the end of its lease.
      if (hasChangedNothing(error)) await claimed.drop().catch(() => undefined);
      throw error;
    }
    const reply = JSON.stringify(json);
    try {
      if (verb.audit !== undefined) {
        await recordVerb(session, verb.audit, { json, account, detail: sent.value as object });
      }
      await claimed.keep(reply);
    } catch (error) {
      // The change itself is made, so that a client must not be told that nothing happened.
      throw error instanceof StoreError ? fault('change_unconfirmed', {}, error) : error;
    }
    return reply;
  }

  function openSession(request: Request, manager: ManagementKey, claimed?: ClaimedRequest): Session {
    const { store, config, publicUrl, isReal } = services;
    const caller = {
      id: manager.id,
      user: describeManager(manager),
      address: findClientAddress(request),
      isReal: isReal(),
      ...(claimed && { operation: claimed.operation, isAgain: claimed.isAgain }),
    };
    return { store, config: { ...config, publicUrl: publicUrl() }, caller };
  }

  /** A key must not take an operator's access away. Found as the action finds them, who may be spelled in many ways. */
  async function refuseOperators({ input: { user, account } }: Action, session: Session): Promise<void> {
    if (typeof user !== 'string' || account !== undefined) return;
    const found = await findUser(session, user);
    if (found.operator) throw new OperatorError(`${found.email} is an operator: a management key cannot change one.`);
  }

  return VERBS.flatMap((verb) => [
    createRoute(verb, `${MANAGE}${verb.route.path}`, false),
    ...(verb.route.own === undefined ? [] : [createRoute(verb, `${OWN}${verb.route.own}`, true)]),
  ]);
}

/** The store of an action, and whether the action has changed anything in it, lines in the log aside. */
function watchChanges(store: Store): { readonly store: Store; hasChanged(): boolean } {
  let changed = false;
  const watched = mapCalls(store, (call, name) => {
    if (isRead(name) || name.port === 'auditLog') return call;
    return async (...args) => {
      const result = await call(...args);
      changed = true;
      return result;
    };
  });
  return { store: watched, hasChanged: () => changed };
}

/** The store has not done what came after a change: what was changed stays. */
function toUnconfirmed(error: unknown): unknown {
  return error instanceof StoreError ? new StoreError(error.message, 'unknown', error) : error;
}

/** The body of a change. */
interface Sent {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/** One request of a verb. */
interface Action {
  readonly request: Request;
  readonly verb: Verb;
  readonly actions: Actions;
  readonly input: Input;
  readonly manager: ManagementKey;
  /** Of an owner, for their account. */
  readonly isOwn: boolean;
}

function run({ verb, actions, input }: Action, session: Session): Promise<Answer> {
  return verb.run(actions, session, input as never);
}

/** The user of lines in the audit log. */
function describeManager({ id, name }: Pick<ManagementKey, 'id' | 'name'>): string {
  return `${name} (${id})`;
}

/** Without the members of these names, at any depth. */
function omitMembers(json: object, names: readonly string[]): object {
  if (names.length === 0) return json;
  return JSON.parse(JSON.stringify(json, (name, value) => (names.includes(name) ? undefined : value)));
}

/** What belongs to another account counts as unknown. */
function refuseForeign(json: object, { manager: { account }, input }: Pick<Action, 'manager' | 'input'>): void {
  const found = readId(json, ['account_id']);
  if (found !== undefined && found !== account) throw unknownObject(input);
}

function unknownObject({ key, request }: Input): UnknownError {
  const name = key === undefined ? `call ${JSON.stringify(request)}` : `key ${JSON.stringify(key)}`;
  return new UnknownError(`The account has no ${name.slice(0, 60)}.`);
}
