// Forms that change several values at once, which somebody else may have changed since the form was opened: it says what it
// showed, and what was left as it was shown stays as it is now.
import type { Form } from './forms.ts';
import { type Html, html } from './html.ts';

/** By the name of the field. */
export type ShownValues = Readonly<Record<string, string>>;

const FIELD = 'shown';

/** `refused`: the form that is shown again, which was opened with other values. */
export function shownField(values: ShownValues, refused?: Form): Html {
  const text = refused?.has(FIELD) ? refused.text(FIELD) : JSON.stringify(values);
  return html`<input type="hidden" name="${FIELD}" value="${text}">`;
}

/** The form as if it had been opened now, with the same changes. */
export function reopenForm(sent: Form, now: ShownValues): Form {
  const shown = parseShown(sent.text(FIELD));
  const text: Form['text'] = (name) => {
    const typed = sent.text(name);
    return shown.get(name) === typed ? (now[name] ?? typed) : typed;
  };
  return { ...sent, text };
}

function parseShown(text: string): ReadonlyMap<string, unknown> {
  try {
    return new Map(Object.entries(JSON.parse(text)));
  } catch {
    return new Map();
  }
}
