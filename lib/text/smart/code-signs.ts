// How much a single line looks like code: its ends, its first word, operators, calls and names that prose does not have.

const STARTS = new Set(
  (
    'def class function const let var import from public private protected static void int float double char bool ' +
    'string return if else elif for while do switch case try except catch finally with func fn struct enum impl use ' +
    'package namespace using include #include #define @ select insert update delete create alter drop where join ' +
    'group order begin end print console.log echo async await export elseif foreach local then fi done sub dim'
  ).split(' '),
);
const SQL = new Set(['select', 'insert', 'update', 'delete', 'create', 'alter', 'drop']);
const SURE = ['Traceback (most recent', '#include', '<?php', '<!doctype', '<html', '>>> ', '#!/', '():'];
const TROUBLE = ['Error: ', 'Exception: ', 'npm ERR!', 'error:', 'File "'];
const STRONG_ENDS = new Set([';', '{']);
const STRONG_LINES = new Set(['}', '});', ')', '};', '})', ']', '],', '},']);
const WEAK_ENDS = new Set(['}', ')', ',', ']']);
const PROSE_ENDS = new Set(['.', '?', '!']);
const PROSE_SPACES = 5;

/** Points of a trimmed line that is not empty: two are enough to call it code, one counts beside other code. */
export function codePoints(line: string): number {
  const last = line[line.length - 1]!;
  const survey = surveyLine(line);
  let points = survey.points + startPoints(line, last);
  if (STRONG_ENDS.has(last) || STRONG_LINES.has(line)) points += 2;
  if (WEAK_ENDS.has(last)) points += 0.5;
  if (isImport(line) || (survey.signs && hasAny(line, SURE))) points += 2;
  if (isErrorLine(line) || isMarkup(line)) points += 2;
  if (survey.signs && (hasAny(line, TROUBLE) || line.startsWith('at '))) points += 1;
  if (PROSE_ENDS.has(last) && survey.spaces >= PROSE_SPACES) points -= 2;
  return points;
}

const BEFORE_MARKUP_MAX = 12;

/** A line that is markup from its beginning; tags behind prose only decorate it. */
function isMarkup(line: string): boolean {
  return line.includes('</') && line.indexOf('<') <= BEFORE_MARKUP_MAX;
}

const ERROR_NAME_MAX = 60;

/** `ImportError: …`, `java.lang.IllegalStateException: …`: a line that begins with the name of a fault. */
function isErrorLine(line: string): boolean {
  const colon = line.indexOf(': ');
  if (colon < 6 || colon > ERROR_NAME_MAX) return false;
  const name = line.slice(0, colon);
  return !name.includes(' ') && isUpper(name.charCodeAt(name.lastIndexOf('.') + 1)) && hasAny(name.slice(1), FAULTS);
}

const FAULTS = ['Error', 'Exception'];

function hasAny(line: string, signs: readonly string[]): boolean {
  for (const sign of signs) if (line.includes(sign)) return true;
  return false;
}

function isImport(line: string): boolean {
  if (line.startsWith('from ')) return line.includes(' import ');
  return line.startsWith('import ') && line.indexOf(' ', 7) === -1;
}

function startPoints(line: string, last: string): number {
  const end = wordEnd(line);
  const word = line.slice(0, end).toLowerCase();
  if (!STARTS.has(word)) return 0;
  if (SQL.has(word)) {
    const lower = line.toLowerCase();
    const clause = lower.includes(' from ') || lower.includes(' into ') || lower.includes(' table ');
    return clause && hasAny(lower, ['*', '(', ',', '=']) ? 2 : 0;
  }
  return last === ':' || last === '{' || last === ')' || line[end] === '(' || line.includes(' = ') ? 1.5 : 0;
}

const WORD_READ = 16;

function wordEnd(line: string): number {
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if (code === 32 || code === 40 || code === 123 || code === 58 || index === WORD_READ) return index;
  }
  return line.length;
}

interface Survey {
  readonly points: number;
  readonly spaces: number;
  /** True when one of the signs that the longer patterns need occurs at all. */
  readonly signs: boolean;
}

const EQUALS = 61;
const MORE = 62;

function surveyLine(line: string): Survey {
  let operators = 0;
  let calls = 0;
  let names = 0;
  let semicolons = 0;
  let spaces = 0;
  let signs = false;
  let before = line.charCodeAt(0);
  for (let index = 1; index < line.length; index++) {
    const code = line.charCodeAt(index);
    if (code === 32) spaces++;
    else if (code >= 97 || code > 127) {
      if (code === 124 && before === 124) operators++;
    } else if (isUpper(code)) {
      if (isLower(before) && isLower(line.charCodeAt(index + 1))) names += 0.5;
    } else if (code === 95) {
      if (isLower(before) && isLower(line.charCodeAt(index + 1))) names++;
    } else {
      signs ||= code === 40 || code === 60 || code === 58 || code === 33 || code === 34 || code === 47;
      if (isOperator(code, before)) operators++;
      else if (code === 40 && isNamePart(before) && isNamePart(line.charCodeAt(index - 2))) calls++;
      else if (code === 91 && isNamePart(before)) calls++;
      else if (code === EQUALS && before === 32 && line.charCodeAt(index + 1) === 32) names += 0.5;
      else if (code === 59) semicolons++;
    }
    before = code;
  }
  if (semicolons > 0 && line.includes('{') && line.endsWith('}')) operators += 2;
  const points = Math.min(2, operators) + Math.min(1.5, calls * 0.75) + Math.min(1, names * 0.5);
  const first = line[0]!;
  return {
    points: points + (semicolons > 1 ? 1 : 0),
    spaces,
    signs: signs || first === '<' || first === '#' || first === '>',
  };
}

/** `==`, `!=`, `+=`, `:=`, `-=`, `=>`, `->`, `&&`, `::`. */
function isOperator(code: number, before: number): boolean {
  if (code === EQUALS) return before === EQUALS || before === 33 || before === 43 || before === 58 || before === 45;
  if (code === MORE) return before === EQUALS || before === 45;
  return (code === 38 && before === 38) || (code === 58 && before === 58);
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122;
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90;
}

function isNamePart(code: number): boolean {
  return isLower(code) || isUpper(code) || code === 95 || (code >= 48 && code <= 57);
}
