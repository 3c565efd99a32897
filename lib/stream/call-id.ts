// Ids of calls of tools that come again: some models number the calls of each answer from 0.

/** The id with the first number behind it that makes one of its own, and that number. */
export function numberCallId(
  id: string,
  isTaken: (id: string) => boolean,
  from = 2,
): { readonly id: string; readonly number: number } {
  let number = from;
  while (isTaken(`${id}_${number}`)) number += 1;
  return { id: `${id}_${number}`, number };
}
