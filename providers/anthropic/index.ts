// Plugin for every upstream that speaks messages as Anthropic does.
import type { Host, Provider, ProviderPlugin, TextCall } from '../../lib/plugin/contract.ts';
import { Faults } from './faults.ts';
import { Reply } from './parts.ts';
import { AUTH_STYLES, requestOf, type Settings, unknownOptions, urlOf, wireOf } from './request.ts';

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
  let turn = 0;

  return {
    text(call, signal) {
      const wire = wireOf(settings, call.options);
      warnOfOptions(call, host);
      const request = requestOf(call, wire, keys[turn++ % keys.length]);
      return host.answer(urlOf(wire), { ...request, signal }, new Reply(faults));
    },
  };
}

function warnOfOptions({ options, model }: TextCall, { log, upstream }: Host): void {
  const names = unknownOptions(options);
  if (names.length > 0) log.warn('route options with unknown values are ignored', { upstream, model, names });
}
