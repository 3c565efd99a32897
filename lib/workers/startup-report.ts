// The facts that the start prints for the operator.
import type { Config } from '../config.ts';
import type { Gateway, GatewayFacts } from '../gateway.ts';

export interface StartupReport extends Omit<GatewayFacts, 'metricsUrl'> {
  readonly port: number;
}

export function makeStartupReport({ facts, server }: Gateway): StartupReport {
  const { sandbox, demoKey, demoAccount, links, models, switchedOff } = facts;
  return { sandbox, demoKey, demoAccount, links, models, switchedOff, port: server.info.port as number };
}

/** The URL of printed examples: nobody can connect to 0.0.0.0, on which a container listens. */
export function findClientUrl(
  { host, publicUrl, publicUrlSet }: Pick<Config, 'host' | 'publicUrl' | 'publicUrlSet'>,
  port: number,
): string {
  if (publicUrlSet) return publicUrl;
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
