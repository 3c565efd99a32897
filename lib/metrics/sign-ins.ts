// Metrics of sign-in attempts, so that an operator notices guessing while it happens.
import { Counter, type Registry } from 'prom-client';
import { SIGN_IN_FACTORS, SIGN_IN_OUTCOMES, type SignInFactor, type SignInOutcome } from '../users/sign-in.ts';
import { createMissingSeries } from './series.ts';

export interface SignInMetrics {
  readonly onSignIn: (factor: SignInFactor, result: SignInOutcome) => void;
}

export function createSignInMetrics(registry: Registry): SignInMetrics {
  const attempts = new Counter({
    name: 'tollgate_sign_ins_total',
    help: 'Attempts to get in, by what was given or asked for and the result (ok, wrong, wait or busy).',
    labelNames: ['factor', 'result'],
    registers: [registry],
  });
  createMissingSeries(
    attempts,
    SIGN_IN_FACTORS.flatMap((factor) => SIGN_IN_OUTCOMES.map((result) => ({ factor, result }))),
  );
  return { onSignIn: (factor, result) => attempts.inc({ factor, result }) };
}
