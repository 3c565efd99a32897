// What a request says about spending: for whom it is, and how much it may cost.
import type { Micro } from '../money/money.ts';

export interface RequestSpending {
  /** The name of the end user, as the client wrote it. */
  readonly endUser?: string;
  /** The most that the call may cost. */
  readonly maxCost?: Micro;
}
