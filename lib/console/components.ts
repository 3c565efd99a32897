// Building blocks of pages: forms with labelled fields, messages, tables.
import { type Html, type HtmlValue, html } from './html.ts';
import type { Visit } from './visit.ts';

interface Field {
  readonly name: string;
  /** Defaults to the name; must be unique when a page has several forms. */
  readonly id?: string;
  readonly label: string;
  /** Defaults to `text`. */
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'date' | 'search';
  readonly value?: string | undefined;
  /** The autofill hint for password managers and phones. */
  readonly autocomplete?: string;
  readonly inputmode?: 'numeric' | 'decimal' | 'email';
  readonly hint?: string;
  /** What is wrong with the submitted value. */
  readonly error?: string | undefined;
  readonly optional?: boolean;
  readonly autofocus?: boolean;
  /** The id of a `<datalist>` with suggestions. */
  readonly list?: string;
}

export function field({ name, label, type = 'text', hint, error, ...more }: Field): Html {
  const { id = name, value, autocomplete = 'off', inputmode, optional = false, autofocus = false, list } = more;
  const notes = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(' ');
  return html`<p class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="${type}" autocomplete="${autocomplete}"${value !== undefined && html` value="${value}"`}${inputmode && html` inputmode="${inputmode}"`}${!optional && html` required`}${autofocus && html` autofocus`}${list !== undefined && html` list="${list}"`}${notes !== '' && html` aria-describedby="${notes}"`}${error !== undefined && html` aria-invalid="true"`}>
${hint !== undefined && html`<span class="hint" id="${id}-hint">${hint}</span>`}
${error !== undefined && html`<span class="error" id="${id}-error">${error}</span>`}</p>`;
}

interface FileField {
  readonly name: string;
  readonly label: string;
  /** Media types, separated by commas. */
  readonly accept: string;
  readonly multiple: boolean;
  readonly hint: string;
}

export function fileField({ name, label, accept, multiple, hint }: FileField): Html {
  return html`<p class="field"><label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="file" accept="${accept}"${multiple && html` multiple`} aria-describedby="${name}-hint">
<span class="hint" id="${name}-hint">${hint}</span></p>`;
}

interface Checkbox {
  readonly name: string;
  readonly label: string;
  readonly checked: boolean;
}

export function checkbox({ name, label, checked }: Checkbox): Html {
  return html`<p class="field wide"><label><input name="${name}" type="checkbox" value="yes"${checked && html` checked`}> ${label}</label></p>`;
}

interface TextArea {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly rows: number;
  /** In characters. */
  readonly max: number;
  readonly hint?: string;
  readonly optional?: boolean;
}

export function textArea({ name, label, value, rows, max, hint, optional = false }: TextArea): Html {
  // Browsers drop the first line feed, so one is added.
  return html`<p class="field wide"><label for="${name}">${label}</label>
<textarea id="${name}" name="${name}" rows="${rows}" maxlength="${max}"${!optional && html` required`}${hint !== undefined && html` aria-describedby="${name}-hint"`}>
${value}</textarea>
${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}</p>`;
}

interface Select {
  readonly name: string;
  readonly label: string;
  /** The label of the empty choice; without it a choice is required. */
  readonly all?: string;
  readonly chosen: string | undefined;
}

type Option = readonly [value: string, text: string];

/** Adds the end of the id to texts that occur more than once. */
export function disambiguate(options: readonly Option[]): readonly Option[] {
  const counts = new Map<string, number>();
  for (const [, text] of options) counts.set(text, (counts.get(text) ?? 0) + 1);
  const isTwice = (text: string) => (counts.get(text) ?? 0) > 1;
  return options.map(([value, text]) => [value, isTwice(text) ? `${text} (…${value.slice(-6)})` : text]);
}

export function select({ name, label, all, chosen }: Select, options: readonly Option[]): Html {
  const items = disambiguate(options).map(([value, text]) => {
    const selected = value === chosen && html` selected`;
    return html`<option value="${value}"${selected}>${text}</option>`;
  });
  return html`<p class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${all !== undefined && html`<option value="">${all}</option>`}${items}</select></p>`;
}

interface FormParts {
  readonly action: string;
  readonly fields: HtmlValue;
  readonly button: string;
  /** A destructive button looks like one. */
  readonly danger?: boolean;
  /** The question that a script asks before sending. */
  readonly confirm?: string | undefined;
}

export function form({ csrf }: Visit, { action, fields, button, danger = false, confirm }: FormParts): Html {
  return html`<form method="post" action="${action}"${confirm !== undefined && html` data-confirm="${confirm}"`}>
<input type="hidden" name="csrf" value="${csrf}">
${fields}
<p><button${danger && html` class="danger"`}>${button}</button></p>
</form>`;
}

/** Sends on what an earlier form has sent. */
export function hiddenInputs(entries: readonly (readonly [name: string, value: string])[]): Html {
  return html`${entries.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

interface StepForm {
  readonly action: string;
  readonly fields: HtmlValue;
  /** The values of `step` with their buttons; the first is also what the enter key does. A quiet one looks weaker. */
  readonly steps: readonly (readonly [value: string, button: string, quiet?: boolean])[];
}

/** A form with a button for each thing that it may do. */
export function stepForm({ csrf }: Visit, { action, fields, steps }: StepForm): Html {
  const buttons = steps.map(
    ([value, text, quiet]) =>
      html`<button name="step" value="${value}"${quiet && html` class="quiet"`}>${text}</button> `,
  );
  return html`<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
${fields}
<p class="buttons">${buttons}</p>
</form>`;
}

/** A result or an error, read out by screen readers. */
export function message(kind: 'done' | 'error', text: HtmlValue): Html {
  return html`<p class="message ${kind}" role="${kind === 'error' ? 'alert' : 'status'}">${text}</p>`;
}

interface Column {
  readonly title: string;
  /** Right-aligned, in tabular figures. */
  readonly number?: boolean;
  /** If any column has it, a row is two lines on a narrow screen. */
  readonly narrow?: Narrow;
}

/**
 * `main`: begins the first line; `sum`: ends it; `line`: has a line of its own below it; `named`: in the last line, with
 * its title; else there without it.
 */
type Narrow = 'main' | 'sum' | 'line' | 'named' | 'note';

/** A value that only says how things usually are: on a narrow screen, two-line rows leave it out. */
export function usual(value: HtmlValue): Html {
  const made = html`${value}`;
  USUAL.add(made);
  return made;
}

const USUAL = new WeakSet<object>();

const isUsual = (value: HtmlValue) => typeof value === 'object' && value !== null && USUAL.has(value);

/** On a narrow screen, wider tables show each row as a list of names and values. */
const NARROW_COLUMNS = 3;

export function orUsual(text: string, isSo: boolean): HtmlValue {
  return isSo ? usual(text) : text;
}

/** A table that scrolls by itself when it is wider than the screen. */
export function table(caption: string, columns: readonly Column[], rows: readonly (readonly HtmlValue[])[]): Html {
  const isWide = columns.length > NARROW_COLUMNS;
  const isBrief = columns.some(({ narrow }) => narrow !== undefined);
  // Some screen readers lose a table whose parts are displayed as blocks, unless roles say what they are.
  const role = (name: string) => isWide && html` role="${name}"`;
  const head = columns.map(
    ({ title, number }) => html`<th${role('columnheader')} scope="col"${number && html` class="number"`}>${title}</th>`,
  );
  const body = rows.map((cells) => {
    const cell = (value: HtmlValue, { title, number, narrow = 'note' }: Column) => {
      const classes = [isBrief && narrow, number && 'number', isUsual(value) && 'usual']
        .filter((name) => name)
        .join(' ');
      return html`<td${role('cell')}${isWide && html` data-title="${title}"`}${classes !== '' && html` class="${classes}"`}>${value}</td>`;
    };
    return html`<tr${role('row')}>${cells.map((value, at) => cell(value, columns[at] as Column))}</tr>`;
  });
  const scrolls = isWide && html` role="region" aria-label="${caption}" tabindex="0"`;
  const kind = isBrief ? 'rows brief' : 'rows';
  return html`<div class="scroll"${scrolls}><table${isWide && html` class="${kind}"`}${role('table')}>
<caption>${caption}</caption>
<thead${role('rowgroup')}><tr${role('row')}>${head}</tr></thead>
<tbody${role('rowgroup')}>${body}</tbody>
</table></div>`;
}

/** A time in a list, short, with the whole of it on demand. */
export function shortTime({ format, services }: Visit, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${format.time(at)}">${format.moment(at, services.now())}</time>`;
}

/** The time of day alone, for the end of a span whose start names the day. */
export function shortClock({ format }: Visit, at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}" title="${format.time(at)}">${format.moment(at, at)}</time>`;
}

/** A filter above a list, folded away on a narrow screen, where it would be the whole first screen. */
export function filterBox(title: string, filter: Html): Html {
  return html`<details class="fold"><summary>${title}</summary>
${filter}</details>`;
}

/** What is seldom needed; `isOpen` shows it at once, such as a form that was refused. */
export function foldAway(title: string, body: Html, isOpen = false): Html {
  return html`<details${isOpen && html` open`}><summary>${title}</summary>
${body}</details>`;
}

export function definitionList(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  return html`<dl class="facts">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** The same as lines of a name and a value, for facts that are read one after the other. */
export function factLines(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  return html`<dl class="lines">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
