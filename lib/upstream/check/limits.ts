// Checks of the headers in which a vendor tells its limits: a name that is misspelt would never be noticed.
import assert from 'node:assert/strict';
import { readLimit } from '../host/limit-headers.ts';
import type { Check, Subject } from './subject.ts';

export function limitChecks({ plugin, recordings }: Subject): readonly Check[] {
  return (plugin.limitHeaders ?? []).map((limit) => ({
    group: 'limits',
    name: `${limit.remaining} is recorded, and ${limit.reset} with it`,
    run: async () => {
      const isShown = recordings.some(({ before, reply }) =>
        [...before, reply].some(({ headers }) => readLimit(lowerNames(headers), limit, Date.now()) !== undefined),
      );
      assert(isShown, 'no recording has both headers, with a number and a time that can be read');
    },
  }));
}

function lowerNames<Value>(headers: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
