// The small real call by which an operator tries an upstream, and what it came to.
import { tryTextRoute } from '../../calls/text/trial.ts';
import { parseCost, pinCost } from '../../catalog/cost.ts';
import { findKnownCost, findKnownOptions } from '../../catalog/known-costs.ts';
import type { Route } from '../../catalog/model.ts';
import { checkReach } from '../../manage/doctor/network.ts';
import { computeCost, convertToRub } from '../../money/cost.ts';
import { nameTokens } from '../../money/token-usage.ts';
import { message } from '../components.ts';
import { type Html, html } from '../html.ts';
import type { UserVisit } from '../visit.ts';
import { UPSTREAM_WORDS } from './upstream-words.ts';

const TRIAL_MS = 60_000;

export async function testUpstream(visit: UserVisit, upstream: string, model: string): Promise<Html> {
  const { services, language, format } = visit;
  const words = UPSTREAM_WORDS[language];
  const { file, plugins, upstreams } = services.catalogParts();
  const open = upstreams.get(upstream);
  if (!open) return message('error', words.offTest);
  const { provider, origin, proxy } = open;
  const options = findKnownOptions(file, { upstream, model }, plugins) ?? {};
  const route: Route = { upstream, key: '', provider, origin, proxy, model, options, rank: 0, keys: 1 };
  if (!provider.text) {
    const { state, detail } = await checkReach(upstream, route, []);
    return message(state === 'ok' ? 'done' : 'error', detail);
  }
  const { ms, usage, problem } = await tryTextRoute(route, AbortSignal.timeout(TRIAL_MS));
  if (problem !== undefined) return message('error', html`${words.failedTest} <code>${problem}</code>`);
  const facts = usage
    ? [
        words.usage(format.number(usage.input), format.number(usage.output)),
        describeCost(visit, { upstream, model, usage }),
      ]
    : [words.noUsage];
  return message('done', `${words.answered(format.number(ms))}; ${facts.join('; ')}.`);
}

interface Billed {
  readonly upstream: string;
  readonly model: string;
  readonly usage: { readonly input: number; readonly output: number };
}

function describeCost({ services, language, format }: UserVisit, { usage, ...of }: Billed): string {
  const words = UPSTREAM_WORDS[language];
  const { file, plugins } = services.catalogParts();
  const known = findKnownCost(file, of, plugins);
  const cost = known && 'output' in known ? pinCost(parseCost('text', known), services.catalog().rates) : undefined;
  const amount = cost && computeCost(cost, nameTokens(usage));
  if (!cost || amount === undefined) return words.unknownCost;
  const rub = format.rubExact(convertToRub(amount, cost.rate.rub));
  return words.cost(`${format.rubTyped(amount)} ${cost.currency} (${rub})`);
}
