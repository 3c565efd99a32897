// One small real call to an upstream, for an operator who wants to know whether a route works. Nothing is held or charged: the
// vendor bills the operator for some tokens.
import type { Route } from '../../catalog/model.ts';
import type { UpstreamFault } from '../../upstream/contract/fault.ts';
import { nameUpstream, PluginRun, runPlugin } from '../../upstream/host/plugin-run.ts';

export interface TrialResult {
  /** Until the answer was complete, or failed. */
  readonly ms: number;
  /** Tokens as the upstream reports them; absent if it does not. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** Why it failed, in the words of the upstream, without secrets; absent if it answered. */
  readonly problem?: string;
}

const PROMPT = 'Say OK.';
const TOKENS_MAX = 16;

/** Never rejects. */
export async function tryTextRoute(
  { provider, model, options, upstream }: Route,
  signal: AbortSignal,
): Promise<TrialResult> {
  const startedAt = performance.now();
  const getMs = () => Math.round(performance.now() - startedAt);
  const usage = { input: 0, output: 0 };
  const call = {
    model,
    options,
    messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: PROMPT }] }],
    maxTokens: TOKENS_MAX,
  };
  const abort = new AbortController();
  const run = new PluginRun(nameUpstream(upstream), (reason) => abort.abort(reason));
  try {
    if (!provider.text) throw new Error('it does not answer text');
    const parts = provider.text(call, AbortSignal.any([signal, abort.signal]));
    await runPlugin(run, async () => {
      for await (const batch of parts) {
        for (const part of batch) {
          if (part.type === 'usage')
            Object.assign(usage, { input: part.input ?? usage.input, output: part.output ?? usage.output });
        }
      }
    });
    return { ms: getMs(), ...(usage.output > 0 && { usage }) };
  } catch (error) {
    const { message = String(error) } = (error ?? {}) as Partial<UpstreamFault>;
    return { ms: getMs(), problem: signal.aborted ? `no answer in ${getMs()} ms` : message };
  } finally {
    run.end();
  }
}
