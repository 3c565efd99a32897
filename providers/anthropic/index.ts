// Plugin for every upstream that speaks messages as Anthropic does.
import type { Host, HostBody, Provider, ProviderPlugin, StreamPart, TextCall } from '../../lib/plugin/contract.ts';
import { Faults } from './faults.ts';
import { Reply } from './parts.ts';
import { AUTH_STYLES, requestOf, type Settings, unknownOptions, urlOf, wireOf } from './request.ts';

/** Of an error's body so much is read at most. */
const ERROR_BYTES_MAX = 64 * 1024;

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
    async *text(call, signal) {
      const wire = wireOf(settings, call.options);
      warnOfOptions(call, host);
      const request = requestOf(call, wire, keys[turn++ % keys.length]);
      const { status, body } = await host.http.request(urlOf(wire), { ...request, signal });
      if (status < 200 || status > 299) throw faults.ofReply(status, await errorText(body));
      yield* readReply(new Reply(faults), host.lines(body, signal), signal);
    },
  };
}

/** An error's body may break off as well; its status is known already. */
async function errorText(body: HostBody): Promise<string> {
  try {
    return await body.text(ERROR_BYTES_MAX);
  } catch {
    return '';
  }
}

async function* readReply(
  reply: Reply,
  arrivals: AsyncIterable<readonly string[]>,
  signal: AbortSignal,
): AsyncGenerator<readonly StreamPart[]> {
  let rest: readonly StreamPart[] = [];
  try {
    for await (const lines of arrivals) {
      const parts = reply.push(lines);
      if (parts.length > 0) yield parts;
      if (reply.done) break;
    }
    if (!reply.done) rest = reply.end();
  } catch (error) {
    if (signal.aborted) throw error;
    rest = reply.break(error);
  }
  if (rest.length > 0) yield rest;
  if (reply.failure !== undefined) throw reply.failure;
}

function warnOfOptions({ options, model }: TextCall, { log, upstream }: Host): void {
  const names = unknownOptions(options);
  if (names.length > 0) log.warn('route options with unknown values are ignored', { upstream, model, names });
}
