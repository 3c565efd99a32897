// How the labelled prompts are routed: the same request gets the same answer from every version, unless a change means to
// alter it. `routings.json` has the routings as of the last such change; `node scripts/smart-eval.ts --pin` writes it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { routeSmart } from '../../../lib/calls/smart/route.ts';
import { GUARD, readSet, type SetName, USED } from './prompts.ts';

const FILE = new URL('./routings.json', import.meta.url);
const SETS: readonly SetName[] = [GUARD, ...USED];
const DIGEST_CHARS = 3;

function routingsOf(name: SetName): string[] {
  return readSet(name).map(({ request }) => {
    const { score, signals } = routeSmart(request);
    const digest = createHash('sha1').update(signals.join(' ')).digest('base64url').slice(0, DIGEST_CHARS);
    return `${score}${digest}`;
  });
}

export function pinRoutings(): void {
  const lines = SETS.map((name) => `  ${JSON.stringify(name)}: ${JSON.stringify(routingsOf(name).join(' '))}`);
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`);
}

/** What of these sets is routed otherwise than it was, in words. */
export function changedRoutings(sets = SETS): string[] {
  const pinned: Readonly<Record<string, string>> = JSON.parse(readFileSync(FILE, 'utf8'));
  return sets.flatMap((name) => {
    const before = pinned[name]?.split(' ') ?? [];
    const now = routingsOf(name);
    if (before.length !== now.length) return [`${name}: ${now.length} prompts instead of ${before.length}`];
    return readSet(name).flatMap(({ id }, at) =>
      now[at] === before[at] ? [] : [`${id}: ${before[at]} -> ${now[at]}`],
    );
  });
}
