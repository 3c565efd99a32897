// What a page says and offers, as lines of text: words, links, fields and their values, tables row by row, charts by their
// titles. Without classes and geometry, and with marks for what differs from run to run.

/** Tags that begin a line. */
const BLOCKS =
  'h1|h2|h3|p|div|section|form|li|tr|label|details|summary|dt|dd|caption|legend|select|pre|aside|nav|title';
/** Attributes that say nothing to a visitor. */
const HIDDEN =
  / (?:class|style|id|for|method|role|scope|data-title|tabindex|autocomplete|aria-(?:describedby|labelledby|controls))="[^"]*"/g;

/** What differs from run to run, and what stands for it. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/name="csrf" value="[^"]*"/g, 'name="csrf"'],
  [/data:image\/svg\+xml;base64,[\w+/=]+/g, 'data:IMAGE'],
  [/\b(token=)[\w-]{20,}/g, '$1TOKEN'],
  [/([a-z]{2,5})_[0-9A-Za-z]{16,}/g, '$1_ID'],
  [/\/media\/\w+/g, '/media/ID'],
  [/\b[0-9a-f]{32,}\b/g, 'HASH'],
  [/\b[A-Z2-7]{32}\b/g, 'SECRET'],
  [/\b(?:[0-9A-Z]{4}-){2}[0-9A-Z]{4}\b/g, 'CODE'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID'],
  [/("\w+_ms": )\d+/g, '$1DURATION'],
  [/"last4": "\w+"/g, '"last4": "END"'],
  [/…[\da-zA-Z]{4,8}\b/g, '…END'],
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/\d{4}-\d\d-\d\d(?:T\d\d(?::|%3A)\d\d(?::\d\d(?:\.\d+)?Z?)?)?|\d{4}-\d\d\b/g, 'DATE'],
  [/\b\d\d\.\d\d\.\d{4}\b/g, 'DATE'],
  [/(?:\d{1,2} )?(?:янв|фев|мар|апр|ма[йя]|июн|июл|авг|сен|окт|ноя|дек)[а-я]* \d{4}/gi, 'DATE'],
  [
    /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: \d{4})?\b/g,
    'DATE',
  ],
  [/\b\d\d:\d\d(?::\d\d)?\b/g, 'TIME'],
  [/\b\d+(?:\.\d+)? (?:ms|s|(?:second|minute)s?(?= ago))\b/g, 'DURATION'],
  [/(DURATION<\/td>)<td>(?:[\d,.]+ tokens\/s)?<\/td>/g, '$1<td>SPEED</td>'],
];

export function outlinePage(page: string): string {
  const [, main = page] = /<main[^>]*>(.*)<\/main>/s.exec(page) ?? [];
  const lines = main
    .replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '')
    .replace(/<pre[^>]*>.*?<\/pre>/gs, (text) =>
      text.replace(/\n( *)/g, (_, indent) => `↵${'·'.repeat(indent.length)}`),
    )
    .replace(/\s+/g, ' ')
    .replace(/<svg.*?<\/svg>/gs, (chart) =>
      [...chart.matchAll(/<title[^>]*>([^<]*)</g)].map(([, text]) => `\n~ ${text}`).join(''),
    )
    .replace(new RegExp(`<(?:${BLOCKS})(?= |>)`, 'g'), '\n$&')
    .replace(/<\/(?!a|button|th|td)\w+>/g, ' ')
    .replace(HIDDEN, '')
    .replace(/<(\w+)>/g, (_, tag) => (/^(?:h\d|th|td|li|button|option)$/.test(tag) ? `<${tag}>` : ''))
    .split('\n')
    .map((line) => line.replace(/ +/g, ' ').trim())
    .filter((line) => line !== '');
  // Such as the hours of a chart without a call.
  const masked = maskVarying(lines.join('\n')).split('\n');
  return masked.filter((line, at) => line !== masked[at - 1]).join('\n');
}

/** With marks for ids, times, durations and secrets. */
export function maskVarying(text: string): string {
  return VARYING.reduce((masked, [found, mark]) => masked.replace(found, mark), text);
}
