// Plugin for every upstream that speaks chat completions as OpenAI does, or nearly so.
import type { Host, Provider, ProviderPlugin, TextCall } from '../../lib/plugin/contract.ts';
import { Faults } from './faults.ts';
import { Reply } from './parts.ts';
import {
  AUTH_STYLES,
  DELTA_STYLES,
  MAX_TOKENS_PARAMS,
  requestOf,
  type Settings,
  USAGE_STYLES,
  unknownOptions,
  urlOf,
  type Wire,
  wireOf,
} from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'openai-compatible',
  settings(joi) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    const key = () => joi.string().trim().meta({ secret: true });
    return joi.object<Settings, true>({
      baseUrl: url().default('https://api.openai.com/v1'),
      apiKey: joi.alternatives(key(), joi.array().items(key()).min(1)).meta({ secret: true }),
      proxy: url(),
      maxTokensParam: joi
        .string()
        .valid(...MAX_TOKENS_PARAMS)
        .default('max_tokens'),
      usage: joi
        .string()
        .valid(...USAGE_STYLES)
        .default('stream_options'),
      auth: joi
        .string()
        .valid(...AUTH_STYLES)
        .default('bearer'),
      deltas: joi
        .string()
        .valid(...DELTA_STYLES)
        .default('incremental'),
    });
  },
  create: createProvider,
};

export default plugin;

function createProvider(settings: Settings, host: Host): Provider {
  const keys = [settings.apiKey ?? []].flat();
  const faults = new Faults(host.fault);
  const known = new WeakMap<TextCall['options'], Target>();
  let turn = 0;

  /** Worked out once for each route: its options are the same object in every call. */
  function targetOf(call: TextCall): Target {
    const seen = known.get(call.options);
    if (seen) return seen;
    warnOfOptions(call, host);
    const wire = wireOf(settings, call.options);
    const target = { wire, url: urlOf(wire) };
    known.set(call.options, target);
    return target;
  }

  return {
    text(call, signal) {
      const { wire, url } = targetOf(call);
      const request = requestOf(call, wire, keys[turn++ % keys.length]);
      return host.answer(url, { ...request, signal }, new Reply(faults, wire.deltas));
    },
  };
}

interface Target {
  readonly wire: Wire;
  readonly url: string;
}

function warnOfOptions({ options, model }: TextCall, { log, upstream }: Host): void {
  const names = unknownOptions(options);
  if (names.length > 0) log.warn('route options with unknown values are ignored', { upstream, model, names });
}
