// @ts-check
// Refreshes the parts of a page that are marked `data-again` until none is. Without it, a link does the same.

import { addCopyButtons } from './copy.js';

const EVERY_MS = 3000;
/** After the first minute. */
const LATER_MS = 15_000;
const SOON = 20;

let rounds = 0;
wait();

function wait() {
  if (!document.querySelector('[data-again]')) return;
  rounds += 1;
  setTimeout(refresh, rounds > SOON ? LATER_MS : EVERY_MS);
}

async function refresh() {
  const ids = [...document.querySelectorAll('[data-again]')].map(({ id }) => id);
  try {
    const response = await fetch(location.href);
    if (response.ok && !response.redirected) adopt(await response.text(), ids);
  } catch {
    // Tried again later.
  }
  wait();
}

/** @param {string} page */
export function parse(page) {
  return new DOMParser().parseFromString(page, 'text/html');
}

/**
 * Puts parts of another page into this one; false where it does not have them all.
 * @param {string} page
 * @param {readonly string[]} ids
 */
export function adopt(page, ids) {
  const other = parse(page);
  return ids.every((id) => {
    const found = other.getElementById(id);
    const old = document.getElementById(id);
    if (!found || !old) return false;
    // Unchanged parts keep the focus and are not read out again.
    if (found.isEqualNode(old)) return true;
    old.replaceWith(found);
    addCopyButtons(found);
    return true;
  });
}
