// Events that are no part of a format: the last of them may say, in a shape that nobody knows, that the answer failed.
import type { Host, JsonObject, UpstreamFault } from '../contract/provider.ts';
import { isFields } from '../host/fields.ts';

/** Watches the odd events of one reply. */
export class OddEvents {
  readonly #kit: Pick<Host, 'fault'>;
  #failure: UpstreamFault | undefined;

  constructor(kit: Pick<Host, 'fault'>) {
    this.#kit = kit;
  }

  /** Throws an error of a known shape, and notes any other event. */
  refuse(event: JsonObject): void {
    const complaint = this.#kit.fault.ofComplaint(event);
    if (complaint) throw complaint;
    this.note(event);
  }

  note(event: JsonObject): void {
    const { usage, ...rest } = event;
    if (TROUBLE.test(JSON.stringify(rest, dropEmpty))) this.#failure = this.#kit.fault.ofComplaint(rest, true);
  }

  /** The answer goes on. */
  forget(): void {
    this.#failure = undefined;
  }

  /** Called at an end without a reason. Throws if the last event that looked like an error has not been forgotten. */
  check(): void {
    if (this.#failure) throw this.#failure;
  }
}

/** `error: null` and `errors: []` say that there is none. */
function dropEmpty(_name: string, value: unknown): unknown {
  return !value || (isFields(value) && Object.keys(value).length === 0) ? undefined : value;
}

const TROUBLE =
  /\berr|error|exception|fail|(?<!de)fault|denied|refused|unavailable|overload|exceeded|crash|time(?:d )?out/i;
