// @ts-check
// Adds copy buttons. Without it, the text can be selected.

const COPIED = { en: ['Copy', 'Copied'], ru: ['Копировать', 'Скопировано'] };

const language = document.documentElement.lang === 'ru' ? 'ru' : 'en';
const [copy = '', copied = ''] = COPIED[language];

addCopyButtons(document);

/** @param {ParentNode} root */
export function addCopyButtons(root) {
  for (const text of root.querySelectorAll('[data-copy]')) addCopyButton(text);
}

/** @param {Element} text */
function addCopyButton(text) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'plain copy';
  button.textContent = copy;
  button.addEventListener('click', async () => {
    if (await copyText(text)) button.textContent = copied;
  });
  (text.closest('pre') ?? text).after(' ', button);
}

/**
 * Over plain http browsers have no clipboard, except for pages of this machine: there the text is selected and copied as
 * by the keyboard, and stays selected if that fails too.
 * @param {Element} text
 */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(text);
    return document.execCommand('copy');
  }
}
