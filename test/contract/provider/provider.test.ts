import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Check, collectChecks } from '../../../lib/upstream/check/check.ts';
import { longer } from '../../../testkit/long.ts';

const PROVIDERS = fileURLToPath(new URL('../../../providers/', import.meta.url));

/** A plugin that does not load is one check that fails. */
async function listChecks(folder: string): Promise<readonly Check[]> {
  try {
    return await collectChecks(folder);
  } catch (error) {
    return [{ group: 'plugin', name: 'loads', run: () => Promise.reject(error) }];
  }
}

const suites = new Map<string, Map<string, Check[]>>();
for (const { name } of readdirSync(PROVIDERS, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  suites.set(
    name,
    Map.groupBy(await listChecks(join(PROVIDERS, name)), (check) => check.group),
  );
}

/** Each check of all providers in a row, by what it looks at. */
const alike = Map.groupBy(
  [...suites.values()].flatMap((groups) => [...groups.values()].flat()),
  nameKind,
);

function nameKind({ group, name }: Check): string {
  return `${group.startsWith('recording: ') ? '' : group} ${name}`;
}

/** Of the checks that are alike one in six, not always of the same provider. */
function hasItsTurn(check: Check): boolean {
  const row = alike.get(nameKind(check)) ?? [];
  return row.indexOf(check) % 6 === check.name.length % Math.min(6, row.length);
}

/** `npm test` reads every recording; to cut and end an answer anywhere takes long: it does that to every fortieth. */
function isInSample(check: Check, at: number): boolean {
  if (/^(reads the same cut|has no end|has no result)/.test(check.name)) return at % 40 === 0;
  if (check.name === 'reads as expected') return true;
  // What is counted and charged is asked of every provider, but for images, whose jobs are polled for long.
  return (
    check.group === 'cases' || (/charge/.test(check.name) && check.group !== 'asking for image') || hasItsTurn(check)
  );
}

describe('contract of providers', function () {
  this.timeout(60_000);
  this.slow(1_000);
  for (const [provider, groups] of suites) {
    describe(provider, () => {
      for (const [at, [group, checks]] of [...groups].entries()) {
        describe(group, () => {
          const wanted = checks.filter((check) => longer(isInSample(check, at), true));
          for (const { name, unchecked, run } of wanted) if (unchecked === undefined) it(name, run);
        });
      }
    });
  }
});
