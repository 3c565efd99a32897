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
    await navigator.clipboard.writeText(text.textContent ?? '');
    button.textContent = copied;
  });
  (text.closest('pre') ?? text).after(' ', button);
}
