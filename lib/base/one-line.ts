// Short texts of people, such as names, which stand in the lines of pages, logs and mails.

/** Controls, breaks of lines, and what reverses the direction of the text after it. */
const UNFIT = /[\p{Cc}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

export function isOneLine(text: string): boolean {
  return !UNFIT.test(text);
}

/** A text of several lines as one, for messages. */
export function joinLines(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
