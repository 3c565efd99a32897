// Plugin for every upstream that speaks messages as Anthropic does.
import type { Host, Provider, ProviderPlugin, TextCall } from '../../lib/plugin/contract.ts';
import { Faults } from './faults.ts';
import { Reply } from './parts.ts';
import { AUTH_STYLES, requestOf, type Settings, unknownOptions, urlOf, type Wire, wireOf } from './request.ts';

const plugin: ProviderPlugin<Settings> = {
  contract: 1,
  name: 'anthropic',
  settings(joi) {
    const url = () => joi.string().uri({ scheme: ['http', 'https'] });
    const key = () => joi.string().trim().meta({ secret: true });
    return joi.object<Settings, true>({
      baseUrl: url().default('https://api.anthropic.com'),
      apiKey: joi.alternatives(key(), joi.array().items(key()).min(1)).meta({ secret: true }),
      proxy: url(),
      version: joi.string().default('2023-06-01'),
      auth: joi
        .string()
        .valid(...AUTH_STYLES)
        .default('x-api-key'),
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
      return host.answer(url, { ...request, signal }, new Reply(faults));
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
