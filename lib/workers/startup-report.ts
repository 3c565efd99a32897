// The facts that the start prints for the operator.
import type { Gateway, GatewayFacts } from '../gateway.ts';

export interface StartupReport extends Omit<GatewayFacts, 'metricsUrl'> {
  readonly port: number;
}

export function makeStartupReport({ facts, server }: Gateway): StartupReport {
  const { sandbox, demoKey, demoAccount, links, models, switchedOff } = facts;
  return { sandbox, demoKey, demoAccount, links, models, switchedOff, port: server.info.port as number };
}
