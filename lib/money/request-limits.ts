// Limits on the requests of a key or of a whole account: how many a minute, how many calls at once, and from where.

/** Absent members do not limit. */
export interface RequestLimits {
  /** Requests to generating endpoints a minute. */
  readonly perMinute?: number;
  /** Calls at once, over all gateways of a store. */
  readonly atOnce?: number;
  /** How long further calls wait for their turn, in seconds; absent: they are refused at once. */
  readonly waitSeconds?: number;
  /** Addresses and networks (CIDR) that requests may come from. */
  readonly addresses?: readonly string[];
}

const NUMBERS = ['perMinute', 'atOnce', 'waitSeconds'] as const;

/** Reads limits from JSON; undefined if they limit nothing. Members of another type are left out. */
export function parseRequestLimits(json: unknown): RequestLimits | undefined {
  const value = typeof json === 'string' ? parseJson(json) : json;
  if (typeof value !== 'object' || value === null) return undefined;
  const { addresses, ...rest } = value as Record<string, unknown>;
  const numbers = NUMBERS.flatMap((name) => (rest[name] == null ? [] : [[name, Number(rest[name])]]));
  const limits = { ...Object.fromEntries(numbers), ...(Array.isArray(addresses) && { addresses }) };
  return Object.keys(limits).length === 0 ? undefined : limits;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A damaged row, which its mark reports: nobody may use it.
    return { addresses: [] };
  }
}
