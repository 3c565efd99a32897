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

describe('contract of providers', function () {
  this.timeout(60_000);
  this.slow(1_000);
  for (const [place, [provider, groups]] of [...suites].entries()) {
    describe(provider, () => {
      for (const [at, [group, checks]] of [...groups].entries()) {
        describe(group, () => {
          // `npm test` reads every fourth recording, and asks a third of the providers for images. To cut and end an
          // answer anywhere takes long: it does that to every fortieth, and looks at the connections that stay open with
          // every fourth provider, at refusals and aborts of media at every third.
          const wanted = checks.filter(({ name }, index) => {
            if (/^(refusals|abort) of/.test(group)) return longer((index + place) % 3 === 0, true);
            if (/^(reads the same cut|has no end|has no result)/.test(name)) return longer(at % 40 === 0, true);
            if (name === 'reads as expected') return longer(at % 4 === 0, true);
            if (group === 'asking for image') return longer(place % 3 === 0, true);
            return name !== 'leaves no connection open' || longer(place % 4 === 0, true);
          });
          for (const { name, unchecked, run } of wanted) if (unchecked === undefined) it(name, run);
        });
      }
    });
  }
});
