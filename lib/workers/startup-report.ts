// What a start prints for its operator.
import type { Gateway, GatewayFacts } from '../gateway.ts';

/** What is printed about a listening gateway. */
export interface StartupReport extends Omit<GatewayFacts, 'metricsUrl'> {
  readonly port: number;
}

export function makeStartupReport({ facts, server }: Gateway): StartupReport {
  const { sandbox, demoKey, demoAccount, links, models, switchedOff } = facts;
  return { sandbox, demoKey, demoAccount, links, models, switchedOff, port: server.info.port as number };
}
