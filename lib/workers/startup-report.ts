// What a start prints for its operator.
import type { Gateway, GatewayFacts } from '../gateway.ts';

/** What is printed about a listening gateway. */
export interface Told extends Omit<GatewayFacts, 'metricsUrl'> {
  readonly port: number;
}

export function makeStartupReport({ facts, server }: Gateway): Told {
  const { sandbox, demoKey, demoAccount, links, models, switchedOff } = facts;
  return { sandbox, demoKey, demoAccount, links, models, switchedOff, port: server.info.port as number };
}
