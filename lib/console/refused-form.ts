// Forms that are shown again after a refusal: with what was typed, and what is wrong at its field.
import { message } from './components.ts';
import type { Html } from './html.ts';
import type { Visit } from './visit.ts';

/** Hidden values that tell a form from the others of its page. */
type Marks = Readonly<Record<string, string>>;

export function isRefused({ refused }: Visit, marks: Marks): boolean {
  return refused !== undefined && Object.entries(marks).every(([name, value]) => refused.sent.text(name) === value);
}

interface TypedField {
  readonly name: string;
  readonly value: string | undefined;
  readonly error?: string;
  readonly autofocus?: true;
}

/** Makes a field's name, value and error; `first` is the value before anything was typed. */
export function typedFields(visit: Visit, marks: Marks): (name: string, first?: string) => TypedField {
  const refused = isRefused(visit, marks) ? visit.refused : undefined;
  return (name, first) => ({
    name,
    value: refused ? refused.sent.text(name) : first,
    ...wrongField({ refused }, name),
  });
}

/** What is wrong with a field, if a form was refused for it. */
export function wrongField({ refused }: Pick<Visit, 'refused'>, name: string): Pick<TypedField, 'error' | 'autofocus'> {
  return refused?.field === name ? { error: refused.text, autofocus: true } : {};
}

/** A secret is not sent back: says so where one was typed. */
export function secretField(visit: Visit, marks: Marks, { name, lost }: { name: string; lost: string }): TypedField {
  const typed = typedFields(visit, marks)(name);
  const isLost = (typed.value ?? '') !== '' && typed.error === undefined;
  return { ...typed, value: undefined, ...(isLost && { error: lost }) };
}

/** Above the page, for a refusal that is about no field. */
export function refusalMessage({ refused }: Visit): Html | undefined {
  return refused && refused.field === undefined ? message('error', refused.text) : undefined;
}
