// Texts in tables for spreadsheets, which run a cell that begins like a formula.

/**
 * Where a cell begins with such a sign; in East Asia the wide ones count, too. A spreadsheet may split lines at another sign
 * than the file has between its cells, as that is a matter of the country: so a cell may begin within a text. Quotes
 * around a cell fall away, and two in a row, as a quote is written, are then an empty text before the rest of the cell.
 */
const FORMULA = /(?=[=+\-@\t\r＝＋－＠])(?<=(?:^|[,;\t\r\n])"*)/g;

/** With an apostrophe before everything that a spreadsheet would run. */
export function escapeFormulas(text: string): string {
  return text.replace(FORMULA, "'");
}
