// Texts in tables for spreadsheets, which run a cell that begins like a formula.

/**
 * Where a cell begins with such a sign; in East Asia the wide ones count, too. A spreadsheet may split lines at another sign
 * than the file has between its cells, as that is a matter of the country: so a cell may begin within a text.
 */
const FORMULA = /(?<=^|[,;\t\r\n])(?=[=+\-@\t\r＝＋－＠])/g;

/** With an apostrophe before everything that a spreadsheet would run. */
export function escapeFormulas(text: string): string {
  return text.replace(FORMULA, "'");
}
