// `npm run imports`: which way imports point, by the rules of `.dependency-cruiser.cjs`. The cruiser's own command works too,
// but warns about TypeScript 7, which swc parses for it.
import { fileURLToPath } from 'node:url';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));
const { options = {}, ...ruleSet } = await extractConfig('./.dependency-cruiser.cjs');
const { output } = await cruise(['lib', 'providers', 'payments'], { ...options, ruleSet, validate: true });
const { violations, totalCruised } = (output as ICruiseResult).summary;
/** One wrong import closes hundreds of circles: the shortest say enough. */
const CIRCLES_MAX = 5;
const circles = violations.filter(({ cycle }) => cycle).sort((a, b) => (a.cycle?.length ?? 0) - (b.cycle?.length ?? 0));
for (const { rule, from, to } of violations.filter(({ cycle }) => !cycle))
  console.error(`${rule.name}: ${from} → ${to}`);
for (const { rule, from, cycle = [] } of circles.slice(0, CIRCLES_MAX)) {
  console.error(`${rule.name}: ${[from, ...cycle.map(({ name }) => name)].join(' → ')}`);
}
if (circles.length > CIRCLES_MAX) console.error(`and ${circles.length - CIRCLES_MAX} more circles`);
if (violations.length === 0) console.log(`imports: ${totalCruised} files are in order`);
process.exitCode = violations.length === 0 ? 0 : 1;
