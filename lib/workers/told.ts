// What a start tells its operator on stdout.
import type { Gateway, GatewayFacts } from '../gateway.ts';

/** What is told of a gateway that listens. */
export interface Told extends Omit<GatewayFacts, 'metricsUrl'> {
  readonly port: number;
}

export function toldOf({ facts, server }: Gateway): Told {
  const { sandbox, demoKey, demoAccount, links, models, switchedOff } = facts;
  return { sandbox, demoKey, demoAccount, links, models, switchedOff, port: server.info.port as number };
}
