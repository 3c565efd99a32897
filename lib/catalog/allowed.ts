// Which catalog models a key may be used for.
import { type Fault, fault } from '../base/faults.ts';
import { allowsModel, type KeyLimits, type NamedModel } from '../money/key-limits.ts';

/** Throws a 403 fault for a model that the key may not be used for. */
export function refuseModel(limits: KeyLimits, model: NamedModel): void {
  if (!allowsModel(limits, model)) throw modelNotAllowedFault(limits, model.id);
}

export function modelNotAllowedFault({ models }: KeyLimits, model: string): Fault {
  return fault('model_not_allowed', { model, hint: (models ?? []).map((name) => `\`${name}\``).join(', ') });
}
