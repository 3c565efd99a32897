// The context that engines get with a call of a key: who pays, within which limits, and how it is logged.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { CallContext, CallLog } from '../calls/context.ts';
import type { RequestSpending } from '../calls/spending.ts';
import { refuseModel } from '../catalog/lookup.ts';
import type { MemoryReservation } from '../http/memory-quota.ts';
import type { LiveCall, RequestState } from '../http/request-state.ts';
import { listCallLimits } from '../ledger/caps.ts';
import { readCallBudget } from '../ledger/key-caps.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import type { AnswerMemory } from '../stream/answer-memory.ts';
import { confirmHolder } from './auth.ts';
import type { Turn } from './call-turns.ts';
import type { Services } from './services.ts';
import { readCaps } from './spending.ts';

interface CallOfKey {
  readonly state: RequestState;
  /** As returned by `confirmHolder`. */
  readonly holder: KeyHolder;
  readonly call: Pick<LiveCall, 'signal'>;
  readonly services: Pick<Services, 'log' | 'turns' | 'holders' | 'catalog'>;
  /** How long it has waited for its turn; absent: not at all. */
  readonly turn?: Pick<Turn, 'waitedMs'>;
  /** The memory that the request takes; absent if nothing is measured. */
  readonly reservation?: Pick<MemoryReservation, 'releaseAll'>;
  /** The memory that the answer takes; absent if nothing is measured. */
  readonly answerMemory?: AnswerMemory;
  readonly request: { readonly raw: { readonly req: Pick<IncomingMessage, 'headers'> } };
}

export function createCallContext(asked: CallOfKey, spending?: RequestSpending): CallContext {
  const { state, holder, call, services, reservation, answerMemory, request } = asked;
  const { id: requestId, notes, startedAt, waitedMs } = state;
  const { id: keyId, account: accountId, limits, priceList } = holder;
  return {
    requestId,
    accountId,
    keyId,
    limits,
    ...(priceList !== undefined && { priceList }),
    ...readCallBudget(holder),
    ...readCaps(holder, request.raw.req.headers, spending),
    ...preparePlace(asked, spending),
    waitedMs,
    signal: call.signal,
    onFirst: () => {
      notes.first_ms = Math.round(performance.now() - startedAt);
    },
    ...(reservation && { releaseRequest: () => reservation.releaseAll() }),
    ...(answerMemory && { answerMemory }),
    log: new RequestLog(services.log, state),
  };
}

/** A call whose key or account may run only so many at once has to find its place among them. */
function preparePlace(
  { state, holder, call, services, turn, request }: CallOfKey,
  spending: RequestSpending | undefined,
): Pick<CallContext, 'takePlace'> {
  if (listCallLimits(holder).length === 0) return {};
  const { headers } = request.raw.req;
  const confirm = () => confirmHolder({ state, holder }, services.holders);
  const waiting = { holder, confirm, waitedMs: turn?.waitedMs ?? 0, signal: call.signal };
  return {
    takePlace: (start, model) =>
      services.turns.take(waiting, (limits, current) => {
        refuseModel(current.limits, services.catalog().byName.get(model) ?? { id: model, aliases: [] });
        const { caps = [] } = readCaps(current, headers, spending);
        return start({ ...readCallBudget(current), caps: [...caps, ...limits] });
      }),
  };
}

const SESSION = 'x-session-id';
/** Agents put their own name into it. */
const OTHER_SESSION = /^x-[a-z-]+-session-id$/;

/** What the client calls its conversation. */
export function readSession(headers: IncomingHttpHeaders): string | undefined {
  const name = headers[SESSION] === undefined ? Object.keys(headers).find((each) => OTHER_SESSION.test(each)) : SESSION;
  const given = name !== undefined && headers[name];
  return typeof given === 'string' && given !== '' ? given : undefined;
}

class RequestLog implements CallLog {
  readonly #log: Services['log'];
  readonly #state: RequestState;

  constructor(log: Services['log'], state: RequestState) {
    this.#log = log;
    this.#state = state;
  }

  debug(fields: object, message: string): void {
    this.#log.debug(this.#with(fields), message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(this.#with(fields), message);
  }

  error(fields: object, message: string): void {
    this.#log.error(this.#with(fields), message);
  }

  note(fields: object): void {
    Object.assign(this.#state.notes, fields);
  }

  #with(fields: object): object {
    return { request_id: this.#state.id, ...fields };
  }
}
