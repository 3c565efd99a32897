// What a verb of the management API is: the words of a command, the route that does the same, and what each of them takes.
import type { ManagementScope } from '../accounts/management-keys.ts';
import type { Json } from '../base/json-schema.ts';
import type * as actions from './actions.ts';
import type { Answer } from './answer.ts';
import type { InputFields } from './input.ts';
import type { Session } from './session.ts';

/** Loaded when they are needed. */
export type Actions = typeof actions;

/** What most verbs are about. */
export interface OfAccount {
  readonly account: string;
}

interface VerbRoute {
  /** `GET` changes nothing. */
  readonly method: 'GET' | 'POST';
  /** Below `/api/v1/manage`; inputs in braces. */
  readonly path: string;
  /** Below `/api/v1/account`, for owners, whose key says which account; absent if it is not for them. */
  readonly own?: string;
  readonly scope: ManagementScope;
}

export interface Verb {
  /** The command without `tollgate`: `key issue`. */
  readonly words: string;
  readonly route: VerbRoute;
  readonly summary: string;
  readonly description?: string;
  /** What the query of a GET or the body of a POST has. */
  readonly input: InputFields;
  /** The reply: what the command prints with `--json`. */
  readonly reply: Json;
  /** Members of the reply that owners do not get, at any depth: what is the operator's business. */
  readonly hidden?: readonly string[];
  /** For the log: `key.issue`. Absent for reads, and for actions that write a line themselves. */
  readonly audit?: string;
  /** It may be done again after an attempt of which nobody knows how it ended. */
  readonly isRepeatable?: boolean;
  /** It takes long, so that a gateway does one at a time. */
  readonly isSlow?: boolean;
  readonly run: (actions: Actions, session: Session, input: never) => Promise<Answer>;
}

/** Checks the types of a verb's inputs at its action; the table holds verbs of different inputs. */
export function defineVerb<Input>(
  verb: Omit<Verb, 'run'> & { readonly run: (actions: Actions, session: Session, input: Input) => Promise<Answer> },
): Verb {
  return verb;
}
