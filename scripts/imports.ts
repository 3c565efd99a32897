// `npm run imports`: which way imports point, by the rules of `.dependency-cruiser.cjs`. The cruiser's own command works too,
// but warns about TypeScript 7, which swc parses for it.
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));
const { options = {}, ...ruleSet } = await extractConfig('./.dependency-cruiser.cjs');
const { output } = await cruise(['lib', 'providers', 'payments'], { ...options, ruleSet, validate: true });
const { violations, totalCruised } = (output as ICruiseResult).summary;
for (const { rule, from, to, cycle } of violations) {
  const way = cycle ? [from, ...cycle.map(({ name }) => name)] : [from, to];
  console.error(`${rule.name}: ${way.join(' → ')}`);
}
if (violations.length === 0) console.log(`imports: ${totalCruised} files are in order`);
process.exitCode = violations.length === 0 ? 0 : 1;
