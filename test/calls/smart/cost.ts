// Prints the cost of routing in a fresh process: microseconds per call, by kind of prompt.
import { routeSmart, type SmartRequest } from '../../../lib/calls/smart/route.ts';

const RUSSIAN =
  'Подготовь подробный план открытия магазина мебели: аренда, ремонт, закупка, реклама, найм; учти расходы и риски. ';
const ENGLISH =
  'Please prepare a plan for our furniture store, with rent, staff, purchases and ads; mind the costs and the risks. ';
const CODE = 'for (const item of items) {\n  total += item.price * item.count;\n}\n';
const PROMPTS = {
  russian: RUSSIAN.repeat(40),
  english: ENGLISH.repeat(40),
  paragraphs: `${ENGLISH}\n\n`.repeat(40),
  bullets: '- the user can add an order, edit it and export a csv file\n'.repeat(80),
  code: `Fix this code\n\n\`\`\`\n${CODE.repeat(80)}`,
};
const LENGTH = 4096;
const ROUNDS_MIN = 10;
const ROUNDS_MAX = 120;
const CALLS = 30;
/** Microseconds that are low enough to stop measuring. */
const ENOUGH = 150;
/** Calls until the code is compiled for good. */
const WARM_UP = 4000;

/** What does not change with the router: tells a slow machine, or a slow hour of a shared one, from a slow router. */
function reference(): number {
  const words = ENGLISH.repeat(40).toLowerCase().split(' ');
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Processor time of the fastest round: other work on the machine only adds. */
function costOf(work: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS_MAX && (round < ROUNDS_MIN || least > ENOUGH); round++) {
    const before = process.cpuUsage();
    for (let call = 0; call < CALLS; call++) work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / CALLS);
  }
  return least;
}

const requests = Object.entries(PROMPTS).map(([name, text]) => {
  const content = [{ type: 'text' as const, text: text.slice(0, LENGTH) }];
  return { name, request: { messages: [{ role: 'user' as const, content }] } };
});
for (let call = 0; call < WARM_UP; call++) {
  routeSmart(requests[call % requests.length]!.request);
  reference();
}
const before = costOf(reference);
const costs = requests.map(({ name, request }) => [name, costOf(() => routeSmart(request as SmartRequest))]);
console.log(JSON.stringify({ reference: Math.max(before, costOf(reference)), ...Object.fromEntries(costs) }));
