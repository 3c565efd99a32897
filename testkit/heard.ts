// What clients were told about their calls, checked against the ledger.
import type { ClientRequest } from 'node:http';
import type { Charge } from '../lib/money/decide.ts';
import type { Store } from '../lib/store/store.ts';
import { ask, findBilling, open, parseEvents, readHead } from './client.ts';
import type { TestAccount } from './gateway.ts';

/** What a client saw of one call. */
export interface Heard {
  /** Undefined if something other than the service answered. */
  readonly requestId: string | undefined;
  readonly account: TestAccount;
  /** 0 if there was no answer at all. */
  readonly status: number;
  /** Whether the reply was complete. */
  readonly whole: boolean;
  /** In RUB; undefined if not told: an error, a stream that broke off, a dialect that does not report it. */
  readonly charged: number | undefined;
  /** What arrived. */
  readonly text: string;
  /** performance.now() at the call, and at the end of its reply. */
  readonly startedAt: number;
  readonly endedAt: number;
}

interface ListenOptions {
  readonly url: string;
  readonly account: TestAccount;
  readonly stream: boolean;
  readonly prompt?: string;
  /** Receives the request, to cut it. */
  readonly onOpen?: (sent: ClientRequest) => void;
}

/** One call, as far as it gets. */
export async function listen({ url, account, stream, prompt = 'hi', onOpen }: ListenOptions): Promise<Heard> {
  const startedAt = performance.now();
  const sent = open(url, { key: account.key, body: ask(prompt, stream ? { stream: true } : {}) });
  onOpen?.(sent);
  let text = '';
  let requestId: string | undefined;
  let [status, whole] = [0, false];
  try {
    const response = await readHead(sent);
    status = response.statusCode ?? 0;
    requestId = response.headers['x-request-id']?.toString();
    for await (const chunk of response.setEncoding('utf8')) text += chunk;
    whole = true;
  } catch {
    // What arrived before counts.
  }
  const charged = status === 200 ? readCharged(text, { stream, whole }) : undefined;
  return { requestId, account, status, whole, charged, text, startedAt, endedAt: performance.now() };
}

function readCharged(text: string, { stream, whole }: { stream: boolean; whole: boolean }): number | undefined {
  if (!stream) return whole ? JSON.parse(text).billing?.charged_rub : undefined;
  const end = text.lastIndexOf('\n\n');
  return end <= 0 ? undefined : findBilling(parseEvents(text.slice(0, end + 2)))?.charged_rub;
}

interface Comparison {
  /** Calls whose charge was reported to the client. */
  readonly told: number;
  /** Where the ledger differs, one line each. */
  readonly wrong: readonly string[];
}

/** A call that broke off may be charged or refunded, but must no longer be held. */
export async function compare({ ledger }: Store, heard: readonly Heard[]): Promise<Comparison> {
  const wrong: string[] = [];
  let told = 0;
  const calls = heard.values();
  const reader = async () => {
    for (const call of calls) {
      if (call.charged !== undefined) told += 1;
      if (call.requestId === undefined) continue;
      const problem = findProblem(call, await ledger.charge(call.requestId));
      if (problem) wrong.push(`${call.requestId}: ${problem}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, reader));
  return { told, wrong };
}

function findProblem({ status, charged, account }: Heard, charge: Charge | undefined): string | undefined {
  if (charge?.state === 'held') return 'is still held';
  if (charged !== undefined) {
    const right =
      charge?.state === 'settled' && charge.wallet === account.id && Number(charge.charged) / 1e6 === charged;
    return right ? undefined : `told ${charged}, the ledger says ${charge?.state} ${charge?.charged}`;
  }
  // Refused, or failed and refunded.
  if (status >= 400 && charge?.state === 'settled') return `answered ${status}, but charged ${charge.charged}`;
  return undefined;
}
