// @ts-check
// Asks before sending a form whose effect cannot be undone. Without it, the text beside the form is the only warning.

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const question = form.dataset.confirm;
  if (question !== undefined && !confirm(question)) event.preventDefault();
});
