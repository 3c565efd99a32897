// Short texts of people, such as names, which stand in the lines of pages, logs and mails.

/** Controls, breaks of lines, and what reverses the direction of the text after it. */
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** A visible character: no space, no mark without a letter, nothing that fonts leave out. */
const SHOWN = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{M}\u2800]/u;

/** Whether a text, unless it is empty, shows something, all of it on one line. */
export function isOneLine(text: string): boolean {
  return !UNFIT.test(text) && (text === '' || SHOWN.test(text));
}

/** U+FFFD stands for whatever a decoder could not read. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\ufffd]/u;

/** Whether an id has no invisible characters. Copying from a page or a mail adds some: two ids that look the same would differ. */
export function isReadableId(text: string): boolean {
  return text.isWellFormed() && !UNSEEN.test(text);
}

/** A text of several lines as one, for messages. */
export function joinLines(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
