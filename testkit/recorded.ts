// Texts that are recorded: a test compares them with a file, or writes the file when `RECORD=1` is set.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';

const END = '\n\n';

/** What differs from run to run, and what stands for it. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/name="csrf" value="[^"]*"/g, 'name="csrf"'],
  [/data:image\/svg\+xml;base64,[\w+/=]+/g, 'data:IMAGE'],
  [/\b(token=)[\w-]{20,}/g, '$1TOKEN'],
  [/([a-z]{2,5})_[0-9A-Za-z]{16,}/g, '$1_ID'],
  [/\/media\/\w+/g, '/media/ID'],
  [/\b[0-9a-f]{32,}\b/g, 'HASH'],
  [/\b[A-Z2-7]{32}\b/g, 'SECRET'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\b(?:[0-9A-Z]{4}-){2}[0-9A-Z]{4}\b/g, 'CODE'],
  [/(("|&quot;)\w+_ms\2: )\d+/g, '$1DURATION'],
  [/"last4": "\w+"/g, '"last4": "END"'],
  [/…[\da-zA-Z]{4,8}\b/g, '…END'],
  [/127\.0\.0\.1:\d+/g, 'HOST'],
  [/\d{4}-\d\d-\d\d(?:T\d\d(?::|%3A)\d\d(?::\d\d(?:\.\d+)?Z?)?)?|\d{4}-\d\d\b/g, 'DATE'],
  [/\b\d\d\.\d\d\.\d{4}\b/g, 'DATE'],
  [
    /(?:(?:пн|вт|ср|чт|пт|сб|вс), )?(?:\d{1,2} )?(?<![а-яё])(?:янв(?:ар[ья])?|февр(?:ал[ья])?|марта?|мар(?=\.)|апр(?:ел[ья])?|ма[йя]|ию[нл][ья]?|авг(?:уста?)?|(?:сент|окт|нояб|дек)(?:а?бр[ья]|ябр[ья]|р[ья])?)(?![а-яё])\.?(?: \d{4}(?: г\.)?)?/gi,
    'DATE',
  ],
  [
    /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:\d{1,2} )?(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May(?! be)|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b(?: \d{4})?/g,
    'DATE',
  ],
  [/\b\d\d:\d\d(?::\d\d)?\b/g, 'TIME'],
  [/\b\d+(?:\.\d+)? (?:ms|s|(?:second|minute)s?(?= ago))\b/g, 'DURATION'],
  [/(?<![\d,])\d+(?:,\d+)? (?:мс|с|(?:секунд|минут)[аыу]?(?= назад))(?![а-яё])/g, 'DURATION'],
  [/[\d.,]+ \/ DURATION/g, 'DURATION / DURATION'],
  // Alerts are sent in the background: a table of them is there or not.
  [/^<td>DATE, TIME<\/td><td>[^<]*<\/td><td>(?:email|почта|webhook|вебхук)<\/td><td>[^<]*<\/td>$/gm, 'ALERT'],
  [/\n<h2>(?:Latest alerts|Последние оповещения)\n(?:.*\n){3}ALERT(?:\nALERT)*/g, ''],
  [/(DURATION<\/td>)<td>(?:[\d,. ]+ (?:tokens\/s|ток\.\/с))?<\/td>/g, '$1<td>SPEED</td>'],
  // Of an answer that came within a millisecond there is none.
  [/\n(?:Speed|Скорость)\n[\d,. \u00a0]+ (?:tokens\/s|ток\.\/с)/g, ''],
];

/** With marks for ids, times, durations and secrets. */
export function maskVarying(text: string): string {
  return VARYING.reduce((masked, [found, mark]) => masked.replace(found, mark), text);
}

/** One by one, so that a failure shows the first text that differs, not all of them. */
export function expectRecorded(file: URL, texts: readonly string[]): void {
  if (process.env.RECORD === '1') writeFileSync(file, texts.join(END));
  const recorded = readFileSync(file, 'utf8').split(END);
  for (const [at, text] of texts.entries()) expect(text).to.equal(recorded[at]);
  expect(texts.length).to.equal(recorded.length);
}
