// Tokens that keys are exchanged for: kept until shortly before they expire, with one exchange at a time per key.
import { rejectOnAbort } from '../../base/abort.ts';
import type { Token, TokenSource } from '../contract/host.ts';
import type { HeaderFields, TokenAuth } from '../contract/request.ts';
import { upstreamFault } from './fault.ts';

/** A token with less time left might expire on the way. */
const MARGIN_MS = 60_000;

/** Calls may join an exchange without end, so one that hangs has to end by itself. */
const EXCHANGE_MS = 20_000;

interface TokensOptions {
  readonly source: TokenSource;
  readonly now: () => number;
  /** Kept out of the log: tokens are added to it. */
  readonly secrets: string[];
}

interface Known extends Token {
  readonly headers: HeaderFields;
}

/** A running exchange, and how many calls wait for it. */
interface Flight {
  readonly controller: AbortController;
  readonly token: Promise<Known>;
  waiting: number;
}

export function createTokenAuth({ source, now, secrets }: TokensOptions): TokenAuth {
  const known = new Map<string, Known>();
  const flights = new Map<string, Flight>();
  const createTokenHeaders = (token: string) => source.headers?.(token) ?? { authorization: `Bearer ${token}` };

  async function exchange(key: string, signal: AbortSignal): Promise<Known> {
    const token = await source.exchange(key, signal);
    const old = known.get(key);
    const at = old ? secrets.indexOf(old.value) : -1;
    secrets.splice(at < 0 ? secrets.length : at, 1, token.value);
    const made = { ...token, headers: createTokenHeaders(token.value) };
    known.set(key, made);
    return made;
  }

  function takeOff(key: string): Flight {
    const controller = new AbortController();
    const { signal } = controller;
    const flight = { controller, token: rejectOnAbort(exchange(key, signal), signal), waiting: 0 };
    flights.set(key, flight);
    const giveUp = () => controller.abort(upstreamFault('timeout', 'no token came of the exchange of the key in time'));
    const timer = setTimeout(giveUp, EXCHANGE_MS);
    const land = () => {
      clearTimeout(timer);
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.token.then(land, land);
    return flight;
  }

  /** The last one to give up aborts the exchange. */
  async function join(key: string, signal: AbortSignal): Promise<Known> {
    const flight = flights.get(key) ?? takeOff(key);
    flight.waiting += 1;
    try {
      return await rejectOnAbort(flight.token, signal);
    } finally {
      flight.waiting -= 1;
      if (flight.waiting === 0 && flights.get(key) === flight) {
        flights.delete(key);
        flight.controller.abort(signal.reason);
      }
    }
  }

  async function auth(key: string, signal: AbortSignal): Promise<HeaderFields> {
    const token = known.get(key);
    const isFresh = token !== undefined && token.expiresAt > now() + MARGIN_MS;
    return (isFresh ? token : await join(key, signal)).headers;
  }

  return Object.assign(auth, {
    refuse(key: string, headers: HeaderFields) {
      const token = known.get(key);
      // Another call may already have a new one.
      if (token?.headers === headers) known.set(key, { ...token, expiresAt: 0 });
    },
  });
}
